import { matchesPathPattern, matchesPathSuffix, toPathSegments } from './path-pattern.ts'
import { NON_SECRET_FILE_PATTERNS, SECRET_FILE_PATTERNS } from '../../model/secret-files.ts'

/** Tests by path, and by the workspace folder that contains it, if a file usually has secrets. */
export type SecretFileTest = (path: string, folder: string) => boolean

/** Compiles the default patterns and those of the user into a test that is fast for very many files. */
export function createSecretFileTest(userPatterns: readonly string[] = []): SecretFileTest {
  const defaultPatterns = toRegExp(SECRET_FILE_PATTERNS)
  const nonSecretPatterns = toRegExp(NON_SECRET_FILE_PATTERNS)
  // A regular expression with many stars can take exponential time; such patterns are matched segment by segment.
  const slow = userPatterns.filter((pattern) => pattern.split('*').length > MAX_WILDCARDS)
  const quick = userPatterns.filter((pattern) => !slow.includes(pattern))
  const [relativePatterns, absolutePatterns] = [false, true].map((isFull) => {
    const patterns = quick.filter((pattern) => pattern.startsWith('/') === isFull)
    return patterns.length === 0 ? undefined : toRegExp(patterns)
  })
  const isSlowMatch = (path: string, name: string) =>
    slow.some((one) =>
      one.startsWith('/')
        ? matchesPathPattern(toPathSegments(path), one)
        : matchesPathSuffix(toPathSegments(name), one),
    )
  return (path, folder) => {
    // The workspace itself may be in a folder with such a name; only the part below it counts.
    const name = path === folder || path.startsWith(`${folder}/`) ? path.slice(folder.length) : path
    const isUsual = defaultPatterns.test(name) && !nonSecretPatterns.test(name)
    return (
      isUsual ||
      relativePatterns?.test(name) === true ||
      absolutePatterns?.test(path) === true ||
      isSlowMatch(path, name)
    )
  }
}

const MAX_WILDCARDS = 4

function toRegExp(patterns: readonly string[]): RegExp {
  return new RegExp(patterns.map(toRegExpSource).join('|'), 'i')
}

/** A relative pattern may begin at any segment; `name/**` also matches the folder itself. */
function toRegExpSource(pattern: string): string {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('?', '[^/]')
    .replace(/\/\*\*$|\*\*\/|\*+/g, (stars) => (stars === '/**' ? '(?:/.*)?' : stars === '**/' ? '(?:.*/)?' : '[^/]*'))
  return pattern.startsWith('/') ? `^${source}$` : `(?:^|/)${source}$`
}
