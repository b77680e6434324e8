import { posix } from 'node:path'
import { NO_SECRETS, SECRETS } from '../../model/secret-files.ts'
import { type Disk, NO_DISK } from '../disk.ts'
import { malformed } from './malformed.ts'
import { matchesPath, matchesSomewhere, stepsIn } from './pattern.ts'
import { isRepositoryKey } from './repository-key.ts'
import { INSTRUCTIONS, PROTECTED } from './protected.ts'

/** Which places there are: the workspace, the home folder, and what more than the usual is protected or secret. */
export interface Places {
  /** The folders that may be read and changed; the first one is where commands run. */
  readonly folders: readonly string[]
  /** Folders that may only be read. */
  readonly readFolders?: readonly string[]
  readonly home?: string
  readonly disk?: Disk
  /** Patterns of files that nobody writes without a person, beside the usual ones. */
  readonly protectedWrites?: readonly string[]
  /** Patterns of files that nobody reads without a person, beside the usual ones. */
  readonly secretFiles?: readonly string[]
  readonly platform?: string
}

/** What a path is to us: inside, outside, inside but only with a person's word, or no path at all. */
export interface Place {
  readonly kind: 'in' | 'out' | 'protected' | 'instructions' | 'secret' | 'reject'
  /** The real path, as far as there is one. */
  readonly path: string
  readonly why: string
  /** The pattern that decided. */
  readonly rule: string
}

/** Judges a path, given from a folder, by where it really leads. */
export function judgePlace(
  given: string,
  need: 'read' | 'write',
  places: Places,
  from = places.folders[0] ?? '/',
): Place {
  const { disk = NO_DISK } = places
  // What the workspace itself is called the person knows; what a model writes below it they must be able to see.
  const above = places.folders.find((folder) => given.startsWith(`${folder}/`))?.length ?? 0
  const problem = malformed(given, need, places.platform, given.slice(above))
  if (problem !== undefined) return { kind: 'reject', path: given, why: problem, rule: 'a path that is none' }
  const text = given.startsWith('/') ? given : `${from}/${given}`
  const real = disk.real(text)
  if (real === undefined) {
    return { kind: 'reject', path: given, why: `Where ${given} leads cannot be said.`, rule: 'a path that is none' }
  }
  // Both names count: the one that was given, and the one that it leads to.
  const names = [posix.normalize(text), real]
  const guarded = need === 'write' ? guardedWrite(names, places) : guardedRead(names, places)
  if (guarded) return { ...guarded, path: real }
  const home = folderOf(
    real,
    need === 'write' ? places.folders : [...places.folders, ...(places.readFolders ?? [])],
    disk,
  )
  return home === undefined
    ? { kind: 'out', path: real, why: `${real} is outside the workspace.`, rule: 'outside the workspace' }
    : { kind: 'in', path: real, why: `${real} is inside the workspace.`, rule: 'inside the workspace' }
}

type Guarded = Omit<Place, 'path'>

function guardedWrite(names: readonly string[], places: Places): Guarded | undefined {
  for (const name of names) {
    const pattern = found(name, [...(places.protectedWrites ?? []), ...PROTECTED], places)
    if (pattern !== undefined) {
      const why = `${name} can run something later or change the rules, so writing it needs a person.`
      return { kind: 'protected', why, rule: `protected: ${pattern}` }
    }
    const instructions = found(name, INSTRUCTIONS, places)
    if (instructions !== undefined) {
      const why = `${name} holds instructions for agents, so writing it needs a person.`
      return { kind: 'instructions', why, rule: `protected: ${instructions}` }
    }
  }
  return undefined
}

function guardedRead(names: readonly string[], places: Places): Guarded | undefined {
  for (const name of names) {
    const isKnown = found(name, NO_SECRETS, places) !== undefined
    const pattern = found(name, [...(places.secretFiles ?? []), ...(isKnown ? [] : SECRETS)], places)
    if (pattern === undefined && isRepositoryKey(name, places.disk ?? NO_DISK)) {
      const why = `${name} holds an address with a key in it, so reading it needs a person.`
      return { kind: 'secret', why, rule: 'secret: a key in an address' }
    }
    if (pattern === undefined) continue
    return {
      kind: 'secret',
      why: `${name} usually holds secrets, so reading it needs a person.`,
      rule: `secret: ${pattern}`,
    }
  }
  return undefined
}

function found(path: string, patterns: readonly string[], places: Places): string | undefined {
  // A workspace may itself lie in a folder with such a name; only the way from there on counts.
  const folder = folderOf(path, places.folders, places.disk ?? NO_DISK)
  const steps = stepsIn(folder === undefined ? path : path.slice(folder.length))
  return patterns.find((pattern) => {
    const full = pattern.startsWith('~/') ? `${places.home ?? '~'}${pattern.slice(1)}` : pattern
    if (!full.startsWith('/')) return matchesSomewhere(steps, full)
    return matchesPath(stepsIn(path), full)
  })
}

/** The folder of a list that a path is in, by its given or its real name. */
export function folderOf(path: string, folders: readonly string[], disk: Disk = NO_DISK): string | undefined {
  return folders.flatMap((folder) => [folder, disk.real(folder) ?? folder]).find((folder) => isWithin(path, folder))
}

/** Is a path a folder, or inside of it? */
export function isWithin(path: string, folder: string): boolean {
  const plain = folder.replace(/\/+$/, '')
  return path === plain || path === folder || path.startsWith(`${plain}/`)
}
