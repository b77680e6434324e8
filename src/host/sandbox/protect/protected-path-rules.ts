import type { ProtectedPath } from '../../../model/security/protected-paths.ts'

/** A protected path from the top of a folder, as segments; `*` stands for part of a name. */
export type ProtectedPathRule = readonly string[]

export function toPathRules(paths: readonly ProtectedPath[]): ProtectedPathRule[] {
  return paths.flatMap(({ path, guardedParts }) =>
    (guardedParts ?? [path]).map((one) => one.replace(/\/\*\*$/, '').split('/')),
  )
}

/** The path of a setting, if it is a plain one: the policy handles patterns. */
export function parsePathRule(setting: string): ProtectedPathRule[] {
  const path = setting.replace(/^(?:\*\*\/)+/, '').replace(/(?:\/\*+)+$/, '')
  const isPlain = path !== '' && !path.startsWith('/') && !path.startsWith('~') && !/[*?[{]|\.\./.test(path)
  return isPlain ? [path.split('/')] : []
}

/** Not case-sensitive, because names that differ only in case are the same on other disks. */
export function createProtectedNamePattern(patterns: readonly string[]): NamePattern {
  const key = patterns.join('/')
  const pattern = namePatterns.get(key) ?? compileNamePattern(patterns)
  // The rules are the same for every command.
  if (namePatterns.size < MAX_NAME_PATTERNS) namePatterns.set(key, pattern)
  return pattern
}

type NamePattern = Pick<RegExp, 'test'>

const namePatterns = new Map<string, NamePattern>()
const MAX_NAME_PATTERNS = 1000

/** Most patterns are plain names, which are looked up. */
function compileNamePattern(patterns: readonly string[]): NamePattern {
  const plainNames = new Set(patterns.filter((one) => !one.includes('*')).map(foldNameCase))
  const wildcards = patterns.filter((one) => one.includes('*'))
  const wildcard = wildcards.length > 0 ? compileWildcards(wildcards) : undefined
  return { test: (name) => plainNames.has(foldNameCase(name)) || wildcard?.test(name) === true }
}

function compileWildcards(patterns: readonly string[]): RegExp {
  const sources = patterns.map((one) => one.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*'))
  return new RegExp(`^(?:${sources.join('|')})$`, 'isu')
}

/** Equal for names that a case-insensitive disk does not distinguish. */
export function foldNameCase(name: string): string {
  const known = foldedNames.get(name)
  if (known !== undefined) return known
  const folded = name.toUpperCase().toLowerCase()
  // The names of the rules are asked for again with every command.
  if (foldedNames.size < MAX_NAME_PATTERNS) foldedNames.set(name, folded)
  return folded
}

const foldedNames = new Map<string, string>()

/** The protected ones among a path and its parent folders, from any folder on. */
export function listProtectedPrefixes(path: string, rules: readonly ProtectedPathRule[]): string[] {
  const names = path.split('/')
  return names.flatMap((name, index) => {
    const isProtected = rules.some((rule) => {
      const first = index - rule.length + 1
      return (
        first > 0 &&
        matchesName(name, rule.at(-1) ?? '') &&
        rule.every((segment, offset) => matchesName(names[first + offset] ?? '', segment))
      )
    })
    return isProtected ? [names.slice(0, index + 1).join('/')] : []
  })
}

function matchesName(name: string, pattern: string): boolean {
  if (!pattern.includes('*')) return foldNameCase(name) === foldNameCase(pattern)
  return createProtectedNamePattern([pattern]).test(name)
}
