import type { ProtectedPath } from '../../model/protected.ts'

/** A protected path from the top of a folder, as steps, in which `*` stands for part of a name. */
export type Rule = readonly string[]

/** The rules that a list of paths means. */
export function rulesOf(paths: readonly ProtectedPath[]): Rule[] {
  return paths.flatMap(({ path, parts }) => (parts ?? [path]).map((one) => one.replace(/\/\*\*$/, '').split('/')))
}

/** The path that a rule of the settings means, if it means one: patterns are for the policy to judge. */
export function ruleOfSetting(setting: string): Rule[] {
  const path = setting.replace(/^(?:\*\*\/)+/, '').replace(/(?:\/\*+)+$/, '')
  const isPlain = path !== '' && !path.startsWith('/') && !path.startsWith('~') && !/[*?[{]|\.\./.test(path)
  return isPlain ? [path.split('/')] : []
}

/** Matches names like any of these patterns. Names that differ only in capital letters are the same on another disk. */
export function nameMatcher(patterns: readonly string[]): RegExp {
  const sources = patterns.map((one) => one.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*'))
  return new RegExp(`^(?:${sources.join('|')})$`, 'isu')
}

/** The same text for names that are the same on a disk which does not tell capital letters apart. */
export function foldName(name: string): string {
  return name.toUpperCase().toLowerCase()
}

/** The path, and the folders on the way to it, that are protected from whatever folder on. */
export function protectedPrefixes(path: string, rules: readonly Rule[]): string[] {
  const names = path.split('/')
  return names.flatMap((name, index) => {
    const isProtected = rules.some((rule) => {
      const first = index - rule.length + 1
      return (
        first > 0 &&
        isLike(name, rule.at(-1) ?? '') &&
        rule.every((step, offset) => isLike(names[first + offset] ?? '', step))
      )
    })
    return isProtected ? [names.slice(0, index + 1).join('/')] : []
  })
}

function isLike(name: string, pattern: string): boolean {
  if (!pattern.includes('*')) return foldName(name) === foldName(pattern)
  return nameMatcher([pattern]).test(name)
}
