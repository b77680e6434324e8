import { posix } from 'node:path'
import type { DiskView } from '../disk-view.ts'
import { matchesGlob } from '../path/path-pattern.ts'

/**
 * Is a word a glob that can be expanded: only `*` is special, and not as the whole first segment, which matches
 * everything?
 */
export function isSimpleGlob(word: string): boolean {
  if (!/^[\w./@%+=:,*-]+$/.test(word) || !word.includes('*') || word.includes('**')) return false
  const segments = word.split('/').filter((segment) => segment !== '.')
  return segments[0] !== '*' && !segments.includes('..')
}

/** Could a pattern that matches nothing now match a file with secrets later? */
export function mayMatchSecretFile(pattern: string, secrets: readonly string[]): boolean {
  const segment = pattern.slice(pattern.lastIndexOf('/') + 1)
  if (segment.startsWith('-')) return false
  return secrets.some((secret) => {
    const name = secret.replace(/\/\*\*$/, '').replace(/^.*\//, '')
    return ['', 'x'].some((some) => matchesGlob(name.replaceAll('*', some), segment))
  })
}

/**
 * Expands a glob as bash does: the names that match, or the pattern itself. Returns undefined if there are too many.
 */
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
