import { posix } from 'node:path'
import type { DiskView } from '../disk-view.ts'
import { matchesGlob } from '../path/path-pattern.ts'

/**
 * Is a word a pattern whose meaning can be looked up: a path in which `*` stands beside other characters or below a folder,
 * and nothing else has a meaning to bash? A `*` alone stands for whatever there is.
 */
export function isSimpleGlob(word: string): boolean {
  if (!/^[\w./@%+=:,*-]+$/.test(word) || !word.includes('*') || word.includes('**')) return false
  const segments = word.split('/').filter((segment) => segment !== '.')
  return segments[0] !== '*' && !segments.includes('..')
}

/** May a pattern that matches nothing now stand for a file with secrets? */
export function mayMatchSecretFile(pattern: string, secrets: readonly string[]): boolean {
  const segment = pattern.slice(pattern.lastIndexOf('/') + 1)
  if (segment.startsWith('-')) return false
  return secrets.some((secret) => {
    const name = secret.replace(/\/\*\*$/, '').replace(/^.*\//, '')
    return ['', 'x'].some((some) => matchesGlob(name.replaceAll('*', some), segment))
  })
}

/** The words that bash makes of a pattern in a folder: the names that match, or the pattern itself; nothing if too many. */
export function expandGlob(pattern: string, folder: string, disk: DiskView): string[] | undefined {
  let found = [pattern.startsWith('/') ? '/' : '']
  for (const [at, segment] of pattern.split('/').entries()) {
    if (at === 0 && segment === '' && pattern.startsWith('/')) continue
    found = found.flatMap((path) => {
      const join = (name: string) => (path === '' || path === '/' ? path + name : `${path}/${name}`)
      if (!/[*?]/.test(segment)) return [join(segment)]
      const names = (disk.list(posix.resolve(folder, path)) ?? []).map(({ name }) => name)
      return names
        .filter((name) => (!name.startsWith('.') || segment.startsWith('.')) && matchesGlob(name, segment))
        .map(join)
    })
    if (found.length > MAX_EXPANDED_WORDS) return undefined
  }
  const there = found.filter((path) => disk.exists(posix.resolve(folder, path)))
  return there.length === 0 ? [pattern] : there
}

const MAX_EXPANDED_WORDS = 2000
