import { lstatSync, readlinkSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { lookAtDisk } from '../../host/look.ts'
import type { Disk } from '../../policy/disk.ts'

/** A step that makes up a disk to try rules on. Nothing is written: the disk stays as it is. */
export interface Step {
  readonly op: string
  readonly path: string
  readonly text?: string
}

type Entry =
  | { readonly kind: 'file' | 'folder' | 'other'; readonly text?: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'gone' }

/** The disk as it would be after some steps. */
export function diskWith(
  steps: readonly Step[],
  place: (path: string) => string,
  fill: (text: string) => string,
): Disk {
  const disk = lookAtDisk()
  if (steps.length === 0) return disk
  const made = new Map<string, Entry>()
  for (const { op, path, text = '' } of steps) {
    const name = fill(path)
    take(made, op, resolve(name.startsWith('/') ? name : place(name)), fill(text), (at) => disk.read(at))
  }

  function real(path: string): string | undefined {
    let done = '/'
    let links = 0
    const todo = path.split('/')
    for (let step = todo.shift(); step !== undefined; step = todo.shift()) {
      if (step === '' || step === '.') continue
      if (step === '..') {
        done = dirname(done)
        continue
      }
      const here = resolve(done, step)
      const target = linkAt(here)
      if (target === undefined) done = here
      else {
        if (++links > 40) return undefined
        if (target.startsWith('/')) done = '/'
        todo.unshift(...target.split('/'))
      }
    }
    return done
  }

  function linkAt(path: string): string | undefined {
    const entry = made.get(path)
    if (entry) return entry.kind === 'link' ? entry.target : undefined
    return isUnder(path) ? undefined : linkOnDisk(path)
  }

  /** Is it in a folder that was made or taken away by a step, so that the true disk has no say? */
  function isUnder(path: string): boolean {
    for (let at = dirname(path); at !== dirname(at); at = dirname(at)) if (made.get(at)?.kind === 'gone') return true
    return false
  }

  const found = (path: string): Entry | undefined => {
    const at = real(path)
    if (at === undefined) return undefined
    const entry = made.get(at)
    if (entry) return entry
    if ([...made].some(([name, { kind }]) => kind !== 'gone' && name.startsWith(`${at}/`))) return { kind: 'folder' }
    const kind = isUnder(at) ? undefined : disk.kind(at)
    return kind && { kind }
  }

  return {
    real,
    kind(path) {
      const kind = found(path)?.kind
      return kind === 'link' || kind === 'gone' ? undefined : kind
    },
    read(path) {
      const at = real(path) ?? path
      const entry = made.get(at)
      if (!entry) return disk.read(at)
      return entry.kind === 'file' ? Buffer.from(entry.text ?? '') : undefined
    },
    list(path) {
      const folder = real(path) ?? path
      const kinds = new Map(
        isUnder(`${folder}/x`) ? [] : (disk.list(folder) ?? []).map(({ name, kind }) => [name, kind]),
      )
      for (const [at, { kind }] of made) {
        if (!at.startsWith(`${folder}/`)) continue
        const [name = '', ...deeper] = at.slice(folder.length + 1).split('/')
        if (deeper.length > 0) kinds.set(name, 'folder')
        else if (kind === 'gone') kinds.delete(name)
        else kinds.set(name, kind)
      }
      return [...kinds].map(([name, kind]) => ({ name, kind }))
    },
    has(path) {
      const at = resolve(real(dirname(path)) ?? dirname(path), basename(path))
      const entry = made.get(at)
      return entry ? entry.kind !== 'gone' : found(path) !== undefined || (!isUnder(at) && disk.has(at))
    },
    program: (name) => disk.program(name),
  }
}

function take(
  made: Map<string, Entry>,
  op: string,
  at: string,
  text: string,
  read: (path: string) => Uint8Array | undefined,
): void {
  const former = made.get(at)
  if (op === 'mkdir') made.set(at, { kind: 'folder' })
  else if (op === 'symlink' || op === 'replace-with-symlink') made.set(at, { kind: 'link', target: text })
  else if (op === 'fifo' || op === 'socket') made.set(at, { kind: 'other' })
  else if (op === 'remove') made.set(at, { kind: 'gone' })
  else if (op === 'append') {
    const before = former?.kind === 'file' ? (former.text ?? '') : Buffer.from(read(at) ?? []).toString('utf8')
    made.set(at, { kind: 'file', text: before + text })
  } else if (op === 'rename') {
    made.set(resolve(dirname(at), text), former ?? { kind: 'folder' })
    made.set(at, { kind: 'gone' })
  } else if (op === 'bare') {
    for (const folder of ['objects', 'refs']) made.set(`${at}/${folder}`, { kind: 'folder' })
    made.set(`${at}/HEAD`, { kind: 'file', text: 'ref: refs/heads/main\n' })
    made.set(`${at}/config`, { kind: 'file', text })
  } else if (op === 'git-init-and-commit') {
    made.set(`${at}/.git`, { kind: 'folder' })
    made.set(`${at}/.git/config`, { kind: 'file', text: '[core]\n\tbare = false\n' })
    made.set(`${at}/.git/index`, { kind: 'file', text: indexOf([...made.keys()], at) })
  } else if (op !== 'touch-old') made.set(at, { kind: 'file', text })
}

/** An index of git that names the files made so far; nothing else of it counts. */
function indexOf(paths: readonly string[], folder: string): string {
  const names = paths.flatMap((path) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : []))
  const tracked = names.filter((name) => !name.startsWith('.git/')).slice(0, 127)
  const entries = tracked.map((name) => {
    const entry = '\0'.repeat(62) + name
    return entry + '\0'.repeat(8 - (Buffer.byteLength(entry) % 8))
  })
  return `DIRC\0\0\0\u0002\0\0\0${String.fromCharCode(tracked.length)}${entries.join('')}`
}

function linkOnDisk(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}
