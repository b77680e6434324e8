import { matchesPath, matchesSomewhere, stepsIn } from './pattern.ts'
import { NO_SECRETS, SECRETS } from '../../model/secret-files.ts'

/** Does a file, by its path and the folder of the workspace that it is in, usually hold secrets? */
export type SecretTest = (path: string, folder: string) => boolean

/** A test for very many files; the patterns are the person's own, beside the usual ones. */
export function secretTest(more: readonly string[] = []): SecretTest {
  const usual = anyOf(SECRETS)
  const never = anyOf(NO_SECRETS)
  // An expression with many stars may take for ever; such a pattern is followed step by step.
  const slow = more.filter((pattern) => pattern.split('*').length > MAX_STARS)
  const quick = more.filter((pattern) => !slow.includes(pattern))
  const [own, fixed] = [false, true].map((isFull) => {
    const patterns = quick.filter((pattern) => pattern.startsWith('/') === isFull)
    return patterns.length === 0 ? undefined : anyOf(patterns)
  })
  const isSlowMatch = (path: string, name: string) =>
    slow.some((one) => (one.startsWith('/') ? matchesPath(stepsIn(path), one) : matchesSomewhere(stepsIn(name), one)))
  return (path, folder) => {
    // A workspace may itself lie in a folder with such a name; only the way from there on counts.
    const name = path === folder || path.startsWith(`${folder}/`) ? path.slice(folder.length) : path
    const isUsual = usual.test(name) && !never.test(name)
    return isUsual || own?.test(name) === true || fixed?.test(path) === true || isSlowMatch(path, name)
  }
}

const MAX_STARS = 4

function anyOf(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.map(sourceOf).join('|'), 'i')
}

/** A relative pattern may begin at any step; `name/**` is also the folder itself. */
function sourceOf(pattern: string): string {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '[^/]')
    .replace(/\/\*\*$|\*\*\/|\*+/g, (stars) => (stars === '/**' ? '(?:/.*)?' : stars === '**/' ? '(?:.*/)?' : '[^/]*'))
  return pattern.startsWith('/') ? `^${source}$` : `(?:^|/)${source}$`
}
