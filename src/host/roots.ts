import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { FileAccess } from './host.ts'
import { HostProblem } from './problem.ts'

/** What a host may touch. The lists are read again for every operation, so a folder that is taken out is out at once. */
export interface Allowed {
  /** Folders to read and write in. */
  readonly folders: readonly string[]
  /** Folders only to read in. */
  readonly readFolders?: readonly string[]
  /** Single files to read and write, outside of those folders. */
  readonly ownFiles?: readonly string[]
  /** Paths outside of those folders that a person, a rule or a mode has let a call open. */
  readonly access?: readonly FileAccess[]
}

/** An allowed folder, or one file in a folder that is not allowed. */
export interface Root {
  /** The folder, all links followed. */
  readonly real: string
  readonly writable: boolean
  /** The one path in it that is allowed, and nothing below that. */
  readonly only?: readonly string[]
  /** It must still be where it was judged: a link in its place, or above it, leads elsewhere. */
  readonly isFixed?: true
}

/** Where a path begins: the allowed folder, and the steps from there. */
export interface Start {
  readonly root: Root
  readonly steps: readonly string[]
}

/** The allowed folders as they are now. */
export interface Roots {
  /** Finds the allowed folder that a path begins in; text alone decides here, the steps are judged as they are made. */
  locate(path: string): Start
  /** Refuses a real path that is not allowed for this. */
  judge(real: string, need: 'read' | 'write'): void
}

/** Knows the allowed folders. What a folder's name means is settled when it is first seen: a link cannot move it later. */
export function rootsOf(allowed: Allowed): Roots {
  const known = new Map<string, Known>()

  const granted = (allowed.access ?? []).map(accessRoot)

  function* all(): Generator<Known> {
    yield* granted
    yield* some(allowed.folders, 'rw', (name) => folderRoot(name, true))
    yield* some(allowed.readFolders ?? [], 'r', (name) => folderRoot(name, false))
    yield* some(allowed.ownFiles ?? [], 'own', fileRoot)
  }

  function* some(names: readonly string[], kind: string, make: (name: string) => Known | undefined): Generator<Known> {
    for (const name of names) {
      const key = `${kind} ${name}`
      const found = known.get(key) ?? make(name)
      if (!found) continue
      known.set(key, found)
      yield found
    }
  }

  return {
    locate(path) {
      const steps = stepsOf(path)
      let best: Start | undefined
      let depth = -1
      for (const { root, names } of all()) {
        for (const name of names) {
          if (name.length <= depth || !covers(root, name, steps)) continue
          depth = name.length
          best = { root, steps: root.only ?? steps.slice(depth) }
        }
      }
      if (best) return best
      throw outside(path, allowed.folders)
    },
    judge(real, need) {
      const steps = stepsOf(real)
      let best: Root | undefined
      let depth = -1
      for (const { root, names, isOnlyBound } of all()) {
        const name = names[1]
        if (isOnlyBound || name.length <= depth || !covers(root, name, steps)) continue
        depth = name.length
        best = root
      }
      if (!best) throw outside(real, allowed.folders)
      if (need === 'write' && !best.writable)
        throw new HostProblem('read-only', `Only reading is allowed here: ${real}`)
    },
  }
}

/** An allowed place with the steps of its name as given, and as it really is. */
interface Known {
  readonly root: Root
  readonly names: readonly [given: readonly string[], real: readonly string[]]
  /** It says what a path means, but allows nothing. */
  readonly isOnlyBound?: boolean
}

function folderRoot(name: string, writable: boolean): Known | undefined {
  const real = realOf(name)
  if (real === undefined) return undefined
  return { root: { real, writable }, names: [stepsOf(resolve(name)), stepsOf(real)] }
}

function fileRoot(file: string): Known | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const real = realOf(dirname(file))
  if (real === undefined) return undefined
  const only = basename(file)
  return { root: { real, writable: true, only: [only] }, names: [stepsOf(resolve(file)), [...stepsOf(real), only]] }
}

/** What was judged: a folder with all below it may be read, a file alone, and only a file may be written. */
function accessRoot({ given, real, need, isOutside }: FileAccess): Known {
  const names: Known['names'] = [stepsOf(given), stepsOf(real)]
  const isOnlyBound = !isOutside
  if (need === 'read' && isFolder(real)) return { root: { real, writable: false, isFixed: true }, names, isOnlyBound }
  const only = [basename(real)]
  let folder = dirname(real)
  for (; !isFolder(folder) && folder !== '/'; folder = dirname(folder)) only.unshift(basename(folder))
  return { root: { real: folder, writable: need === 'write', only, isFixed: true }, names, isOnlyBound }
}

/** Not a link to one: what was judged has no links in it. */
function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** A folder that is not there yet is asked for again the next time. */
function realOf(name: string): string | undefined {
  try {
    return realpathSync(name)
  } catch {
    return undefined
  }
}

function covers(root: Root, name: readonly string[], steps: readonly string[]): boolean {
  if (root.only === undefined ? name.length > steps.length : name.length !== steps.length) return false
  return name.every((step, at) => step === steps[at])
}

/** The steps of an absolute path. `..` stays: where it leads is for the disk to say. */
export function stepsOf(path: string): string[] {
  return path.split('/').filter((step) => step !== '' && step !== '.')
}

function outside(path: string, folders: readonly string[]): HostProblem {
  const where = folders.length === 0 ? 'No folder is allowed' : `The allowed folders are ${folders.join(', ')}`
  return new HostProblem('outside', `The path leads out of the workspace: ${path}. ${where}.`)
}
