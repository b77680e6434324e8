/** The names that fragments of a name can mean. */
export interface NameCandidates {
  readonly names: readonly string[]
  /** One of them is a declared name, or the beginning of one. */
  readonly canMatch: boolean
  /** One of them is a declared name; if no tools are declared, every name is complete. */
  readonly isComplete: boolean
}

/** Keeps every reading of the fragments: deltas repeat (T12), split or extend a name (T13); the tools decide. */
export function findNameCandidates(fragments: readonly string[], toolNames: readonly string[]): NameCandidates {
  let names: string[] = []
  for (const fragment of fragments) {
    if (names.length === 0) {
      names = [fragment]
      continue
    }
    const next = new Set<string>()
    for (const name of names) {
      if (fragment === name) next.add(name)
      else if (fragment.startsWith(name)) next.add(fragment)
      next.add(name + fragment)
      // The last fragment may be repeated.
      if (name.endsWith(fragment)) next.add(name)
    }
    names = [...next].filter((name) => isPrefixOfAny(name, toolNames)).slice(0, 8)
    if (names.length === 0) names = [...next].slice(0, 8)
  }
  if (toolNames.length === 0) return { names, canMatch: true, isComplete: true }
  return {
    names,
    canMatch: names.some((name) => isPrefixOfAny(name, toolNames)),
    isComplete: names.some((name) => toolNames.includes(name)),
  }
}

export function resolveCallName(fragments: readonly string[], toolNames: readonly string[]): string {
  if (fragments.length <= 1) return stripTemplateTokens(fragments[0] ?? '', toolNames)
  const { names } = findNameCandidates(fragments, toolNames)
  const exact = names.filter((name) => toolNames.includes(name))
  return exact[0] ?? stripTemplateTokens(names[0] ?? '', toolNames)
}

/** Removes special tokens of a chat template after the name, if that gives a declared name (T65). */
function stripTemplateTokens(name: string, toolNames: readonly string[]): string {
  if (toolNames.includes(name)) return name
  const stripped = name.replace(/\s*<[|｜][\s\S]*$/, '')
  return toolNames.includes(stripped) ? stripped : name
}

function isPrefixOfAny(name: string, toolNames: readonly string[]): boolean {
  return toolNames.some((one) => one.startsWith(name))
}
