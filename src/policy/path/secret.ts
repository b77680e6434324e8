import { NO_SECRETS, SECRETS } from './protected.ts'

/** Does a file, by its path and the folder of the workspace that it is in, usually hold secrets? */
export type SecretTest = (path: string, folder: string) => boolean

/** A test for very many files; the patterns are the person's own, beside the usual ones. */
export function secretTest(more: readonly string[] = []): SecretTest {
  const usual = anyOf(SECRETS)
  const never = anyOf(NO_SECRETS)
  const [own, fixed] = [false, true].map((isFull) => {
    const patterns = more.filter((pattern) => pattern.startsWith('/') === isFull)
    return patterns.length === 0 ? undefined : anyOf(patterns)
  })
  return (path, folder) => {
    // A workspace may itself lie in a folder with such a name; only the way from there on counts.
    const name = path === folder || path.startsWith(`${folder}/`) ? path.slice(folder.length) : path
    return (usual.test(name) && !never.test(name)) || own?.test(name) === true || fixed?.test(path) === true
  }
}

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
