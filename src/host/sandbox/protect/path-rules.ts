import type { ProtectedPath } from '../../../model/security/protected-paths.ts'

/** A protected path from the top of a folder, as steps, in which `*` stands for part of a name. */
export type ProtectedPathRule = readonly string[]

/** The rules that a list of paths means. */
export function toPathRules(paths: readonly ProtectedPath[]): ProtectedPathRule[] {
  return paths.flatMap(({ path, guardedParts }) =>
    (guardedParts ?? [path]).map((one) => one.replace(/\/\*\*$/, '').split('/')),
  )
}

/** The path that a rule of the settings means, if it means one: patterns are for the policy to judge. */
export function parsePathRule(setting: string): ProtectedPathRule[] {
  const path = setting.replace(/^(?:\*\*\/)+/, '').replace(/(?:\/\*+)+$/, '')
  const isPlain = path !== '' && !path.startsWith('/') && !path.startsWith('~') && !/[*?[{]|\.\./.test(path)
  return isPlain ? [path.split('/')] : []
}

/** Matches names like any of these patterns. Names that differ only in capital letters are the same on another disk. */
export function createNameMatcher(patterns: readonly string[]): RegExp {
  const sources = patterns.map((one) => one.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*'))
  return new RegExp(`^(?:${sources.join('|')})$`, 'isu')
}

/** The same text for names that are the same on a disk which does not tell capital letters apart. */
export function foldNameCase(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/** The path, and the folders on the way to it, that are protected from whatever folder on. */
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
  return createNameMatcher([pattern]).test(name)
}
