import { lstatSync, readlinkSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { createDiskView } from '../../../host/files/disk-view.ts'
import type { DiskView } from '../../../policy/disk-view.ts'

/** A change of the virtual disk. Nothing is written to the real one. */
export interface FixtureStep {
  readonly op: string
  readonly path: string
  readonly text?: string
}

type VirtualEntry =
  | { readonly kind: 'file' | 'folder' | 'other'; readonly text?: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'gone' }

/** The real disk as it would be after some steps. */
export function createVirtualDisk(
  steps: readonly FixtureStep[],
  toAbsolute: (path: string) => string,
  expand: (text: string) => string,
): DiskView {
  const disk = createDiskView()
  if (steps.length === 0) return disk
  const entries = new Map<string, VirtualEntry>()
  for (const { op, path, text = '' } of steps) {
    const name = expand(path)
    applyStep(entries, op, resolve(name.startsWith('/') ? name : toAbsolute(name)), expand(text), disk)
  }

  function real(path: string): string | undefined {
    let resolved = '/'
    let links = 0
    const remaining = path.split('/')
    for (let step = remaining.shift(); step !== undefined; step = remaining.shift()) {
      if (step === '' || step === '.') continue
      if (step === '..') {
        resolved = dirname(resolved)
        continue
      }
      const candidate = resolve(resolved, step)
      const target = linkAt(candidate)
      if (target === undefined) resolved = candidate
      else {
        if (++links > 40) return undefined
        if (target.startsWith('/')) resolved = '/'
        remaining.unshift(...target.split('/'))
      }
    }
    return resolved
  }

  function linkAt(path: string): string | undefined {
    const entry = entries.get(path)
    if (entry) return entry.kind === 'link' ? entry.target : undefined
    return isBelowRemoved(path) ? undefined : readLinkTarget(path)
  }

  /** Is it in a folder that a step removed, so that the real disk does not count? */
  function isBelowRemoved(path: string): boolean {
    for (let at = dirname(path); at !== dirname(at); at = dirname(at)) if (entries.get(at)?.kind === 'gone') return true
    return false
  }

  const findEntry = (path: string): VirtualEntry | undefined => {
    const at = real(path)
    if (at === undefined) return undefined
    const entry = entries.get(at)
    if (entry) return entry
    if ([...entries].some(([name, { kind }]) => kind !== 'gone' && name.startsWith(`${at}/`))) return { kind: 'folder' }
    const kind = isBelowRemoved(at) ? undefined : disk.kind(at)
    return kind && { kind }
  }

  return {
    realPath: real,
    kind(path) {
      const kind = findEntry(path)?.kind
      return kind === 'link' || kind === 'gone' ? undefined : kind
    },
    read(path) {
      const at = real(path) ?? path
      const entry = entries.get(at)
      if (!entry) return disk.read(at)
      return entry.kind === 'file' ? Buffer.from(entry.text ?? '') : undefined
    },
    list(path) {
      const folder = real(path) ?? path
      const kinds = new Map(
        isBelowRemoved(`${folder}/x`) ? [] : (disk.list(folder) ?? []).map(({ name, kind }) => [name, kind]),
      )
      for (const [at, { kind }] of entries) {
        if (!at.startsWith(`${folder}/`)) continue
        const [name = '', ...deeper] = at.slice(folder.length + 1).split('/')
        if (deeper.length > 0) kinds.set(name, 'folder')
        else if (kind === 'gone') kinds.delete(name)
        else kinds.set(name, kind)
      }
      return [...kinds].map(([name, kind]) => ({ name, kind }))
    },
    exists(path) {
      const at = resolve(real(dirname(path)) ?? dirname(path), basename(path))
      const entry = entries.get(at)
      return entry ? entry.kind !== 'gone' : findEntry(path) !== undefined || (!isBelowRemoved(at) && disk.exists(at))
    },
    findProgram: (name) => disk.findProgram(name),
  }
}

function applyStep(entries: Map<string, VirtualEntry>, op: string, at: string, text: string, disk: DiskView): void {
  const previous = entries.get(at)
  if (op === 'mkdir') entries.set(at, { kind: 'folder' })
  else if (op === 'symlink' || op === 'replace-with-symlink') entries.set(at, { kind: 'link', target: text })
  else if (op === 'fifo' || op === 'socket') entries.set(at, { kind: 'other' })
  else if (op === 'remove') entries.set(at, { kind: 'gone' })
  else if (op === 'append') {
    const before = previous?.kind === 'file' ? (previous.text ?? '') : Buffer.from(disk.read(at) ?? []).toString('utf8')
    entries.set(at, { kind: 'file', text: before + text })
  } else if (op === 'rename') {
    entries.set(resolve(dirname(at), text), previous ?? { kind: 'folder' })
    entries.set(at, { kind: 'gone' })
  } else if (op === 'bare') {
    for (const folder of ['objects', 'refs']) entries.set(`${at}/${folder}`, { kind: 'folder' })
    entries.set(`${at}/HEAD`, { kind: 'file', text: 'ref: refs/heads/main\n' })
    entries.set(`${at}/config`, { kind: 'file', text })
  } else if (op === 'git-init-and-commit') {
    entries.set(`${at}/.git`, { kind: 'folder' })
    entries.set(`${at}/.git/config`, { kind: 'file', text: '[core]\n\tbare = false\n' })
    entries.set(`${at}/.git/index`, { kind: 'file', text: buildGitIndex([...entries.keys()], at) })
  } else if (op !== 'touch-old') entries.set(at, { kind: 'file', text })
}

/** A git index that names the files made so far. */
function buildGitIndex(paths: readonly string[], folder: string): string {
  const names = paths.flatMap((path) => (path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : []))
  const tracked = names.filter((name) => !name.startsWith('.git/')).slice(0, 127)
  const records = tracked.map((name) => {
    const entry = '\0'.repeat(62) + name
    return entry + '\0'.repeat(8 - (Buffer.byteLength(entry) % 8))
  })
  return `DIRC\0\0\0\u0002\0\0\0${String.fromCharCode(tracked.length)}${records.join('')}`
}

function readLinkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined
  } catch {
    return undefined
  }
}
