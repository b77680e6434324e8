/** The names that pieces of a name can mean, and whether one of them can still become a declared one. */
export interface NameCandidates {
  readonly names: readonly string[]
  readonly fits: boolean
  /** One of them is a declared name; where nothing is declared, every name is whole. */
  readonly whole: boolean
}

/**
 * Vendors send a name whole in every delta (T12), in pieces, or ever longer (T13); "assign" and "append" are both wrong.
 * So every reading is kept, and the declared names decide.
 */
export function nameCandidates(pieces: readonly string[], declared: readonly string[]): NameCandidates {
  let names: string[] = []
  for (const piece of pieces) {
    if (names.length === 0) {
      names = [piece]
      continue
    }
    const next = new Set<string>()
    for (const name of names) {
      if (piece === name) next.add(name)
      else if (piece.startsWith(name)) next.add(piece)
      next.add(name + piece)
      // The last piece once more.
      if (name.endsWith(piece)) next.add(name)
    }
    names = [...next].filter((name) => begins(name, declared)).slice(0, 8)
    if (names.length === 0) names = [...next].slice(0, 8)
  }
  if (declared.length === 0) return { names, fits: true, whole: true }
  return {
    names,
    fits: names.some((name) => begins(name, declared)),
    whole: names.some((name) => declared.includes(name)),
  }
}

/** The one name that the pieces mean. */
export function resolveName(pieces: readonly string[], declared: readonly string[]): string {
  if (pieces.length <= 1) return undecorated(pieces[0] ?? '', declared)
  const { names } = nameCandidates(pieces, declared)
  const exact = names.filter((name) => declared.includes(name))
  return exact[0] ?? undecorated(names[0] ?? '', declared)
}

/** The name without the special tokens of a chat template that stick to it, if that is a declared one (T65). */
function undecorated(name: string, declared: readonly string[]): string {
  if (declared.includes(name)) return name
  const bare = name.replace(/\s*<[|｜][\s\S]*$/, '')
  return declared.includes(bare) ? bare : name
}

function begins(name: string, declared: readonly string[]): boolean {
  return declared.some((one) => one.startsWith(name))
}
