import { posix } from 'node:path'
import type { Disk } from '../disk.ts'
import { isLike } from '../path/pattern.ts'

/**
 * Is a word a pattern whose meaning can be looked up: a path in which `*` stands beside other characters or below a folder,
 * and nothing else has a meaning to bash? A `*` alone stands for whatever there is.
 */
export function isPlainPattern(word: string): boolean {
  if (!/^[\w./@%+=:,*-]+$/.test(word) || !word.includes('*') || word.includes('**')) return false
  const steps = word.split('/').filter((step) => step !== '.')
  return steps[0] !== '*' && !steps.includes('..')
}

/** May a pattern that matches nothing now stand for a file with secrets? */
export function mayNameSecret(pattern: string, secrets: readonly string[]): boolean {
  const step = pattern.slice(pattern.lastIndexOf('/') + 1)
  if (step.startsWith('-')) return false
  return secrets.some((secret) => {
    const name = secret.replace(/\/\*\*$/, '').replace(/^.*\//, '')
    return ['', 'x'].some((some) => isLike(name.replaceAll('*', some), step))
  })
}

/** The words that bash makes of a pattern in a folder: the names that match, or the pattern itself; nothing if too many. */
export function wordsOfPattern(pattern: string, folder: string, disk: Disk): string[] | undefined {
  let found = [pattern.startsWith('/') ? '/' : '']
  for (const [at, step] of pattern.split('/').entries()) {
    if (at === 0 && step === '' && pattern.startsWith('/')) continue
    found = found.flatMap((path) => {
      const join = (name: string) => (path === '' || path === '/' ? path + name : `${path}/${name}`)
      if (!/[*?]/.test(step)) return [join(step)]
      const names = (disk.list(posix.resolve(folder, path)) ?? []).map(({ name }) => name)
      return names.filter((name) => (!name.startsWith('.') || step.startsWith('.')) && isLike(name, step)).map(join)
    })
    if (found.length > MAX_WORDS) return undefined
  }
  const there = found.filter((path) => disk.has(posix.resolve(folder, path)))
  return there.length === 0 ? [pattern] : there
}

const MAX_WORDS = 2000
