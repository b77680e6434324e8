import { lchownSync, mkdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Grip, grip } from '../grip.ts'
import { toRaw } from '../raw-name.ts'
import type { ApprovedWrites } from './approved-writes.ts'
import { isBelow } from './below.ts'
import type { InnerRepositories } from './inner-repositories.ts'
import { spellingsOf } from './listing.ts'
import type { MissingPath, ProtectedLink } from './missing-path.ts'
import { keepMissing, type MissingPaths } from './missing-paths.ts'
import { HARMLESS_IN_NEW_REPOSITORY, isRepository } from './new-repository.ts'
import { attempt, inFolderOf, namesIn, statsOf } from './no-follow.ts'
import { foldName, nameMatcher, type Rule } from './rules.ts'
import { WORKTREE_PROTECTED, worktreeOf } from './worktree.ts'

/** A path to mount, and a descriptor of what was found there, so that nothing else can be mounted in its place. */
export interface Source {
  readonly path: string
  readonly descriptor?: number
}

/** How protected paths are held while a command runs. */
export interface Guard extends Pick<MissingPaths, 'found' | 'check' | 'repeated'> {
  /** Folders on the way to protected paths. They are mounted onto themselves, because what is mounted cannot be renamed. */
  readonly anchors: readonly Source[]
  /** What is only to be read. */
  readonly fixed: readonly Source[]
  /** What is missing, by folder, as patterns of paths from there. */
  readonly missing: ReadonlyMap<string, readonly string[]>
  /** What is like one of those patterns and was there before. */
  readonly present: readonly string[]
  /** The command has been started, and the descriptors are not needed any more; it runs below a process, and `stop` ends it. */
  begun(lid?: number, stop?: () => void): void
  /** All processes of the command have ended. */
  release(): void
}

/** What to guard, and where. */
export interface GuardOptions {
  readonly folders: readonly string[]
  /** What is protected in a folder. */
  readonly protect: (folder: string) => readonly Rule[]
  /** Folders of writable places whose names must not move, because something below them is masked. */
  readonly masked?: readonly string[]
  /** Does the sandbox judge by name, be the path there or not? Seatbelt does; a mount needs something to be mounted on. */
  readonly byName: boolean
  readonly approved: ApprovedWrites
  readonly inner: InnerRepositories
  /** Somebody else than the command has made a path, or what was there is gone. */
  readonly onKnown?: (path: string, isKnown: boolean) => void
}

/** Guards paths inside folders for one command. */
export function guard({ folders, protect, masked = [], byName, approved, inner, onKnown }: GuardOptions): Guard {
  const anchors = new Map<string, Grip>()
  const fixed = new Map<string, Grip | undefined>()
  const links = new Map<string, ProtectedLink>()
  const missing: MissingPath[] = []
  const others: (() => readonly MissingPath[])[] = []
  /** Protected names at the top of each folder. */
  const names = new Map<string, string[]>()

  function settle(folder: string, steps: readonly string[], depth = 0): void {
    const settled: string[] = []
    for (const [index, step] of steps.entries()) {
      const at = join(folder, ...settled)
      if (step.includes('*')) {
        const rest = steps.slice(index + 1)
        for (const name of namesLike(at, step)) settle(folder, [...settled, name, ...rest], depth)
        return
      }
      if (index > 0 && depth < MAX_DEPTH)
        for (const name of namesLike(at, step))
          if (name !== step) settle(folder, [...settled, name, ...steps.slice(index + 1)], MAX_DEPTH)
      const path = join(at, step)
      settled.push(step)
      const stats = statsOf(path)
      if (!stats) {
        if (depth < MAX_DEPTH && isMadeHere(folder, steps, index)) return settle(folder, steps, depth + 1)
        return settleMissing(folder, steps, index)
      }
      if (stats.isSymbolicLink()) {
        const target = resolve(at, readlinkSync(path))
        links.set(path, { folder, steps: [...settled], target: readlinkSync(path) })
        const inside = folders.find((one) => isBelow(target, one))
        const rest = target.slice((inside ?? '').length + 1).split('/')
        if (inside !== undefined && target !== inside && depth < MAX_DEPTH)
          settle(inside, [...rest, ...steps.slice(index + 1)], depth + 1)
        return
      }
      // A file where a folder should be is what decides: `.git` of a worktree, for one.
      const isLast = index === steps.length - 1 || !stats.isDirectory()
      const sources = isLast ? fixed : anchors
      if (!sources.has(path)) hold(folder, settled, sources)
      if (!isLast) continue
      if (settled.length > 1 && !byName) missing.push({ folder, steps: [...settled] })
      return
    }
  }

  /** An empty folder of hooks and empty settings mean the same to git as none, and can be mounted. */
  function isMadeHere(folder: string, steps: readonly string[], index: number): boolean {
    const make = byName || index !== 1 ? undefined : EMPTY_IN_GIT.get(steps.join('/'))
    if (make === undefined) return false
    inFolderOf(folder, steps, (at, name) => attempt(() => make(at, name)))
    return statsOf(join(folder, ...steps)) !== undefined
  }

  function settleMissing(folder: string, steps: readonly string[], index: number): void {
    // What git makes in a folder of its own that is not there yet is as git wants it.
    if (steps.some((step) => step.includes('*'))) return
    const isNewRepository = steps[0] === '.git' && index === 0
    const isLast = index === steps.length - 1
    if (byName && !isNewRepository) fixed.set(join(folder, ...steps), undefined)
    // A folder on the way could be made elsewhere and renamed, which no name keeps from happening.
    if (byName && !isNewRepository && isLast) return
    const isHarmless = isNewRepository ? HARMLESS_IN_NEW_REPOSITORY.get(steps.join('/')) : undefined
    const isName = steps.length === 1 && names.get(folder)?.some((name) => name === steps[0])
    if (!isName) missing.push({ folder, steps, ...(isHarmless && { isHarmless }) })
  }

  function hold(folder: string, steps: readonly string[], sources: Map<string, Grip | undefined>): void {
    // The arguments of a program are text.
    if (typeof toRaw(join(folder, ...steps)) !== 'string') return
    const held = inFolderOf(folder, steps, (at, name) => grip(`${at}/${name}`))
    if (held?.stats.isSymbolicLink()) held.release()
    else if (held) sources.set(join(folder, ...steps), held)
  }

  for (const folder of folders) {
    const spellings = spellingsOf(namesIn(folder))
    const isBare = isRepository(folder)
    const own = protect(folder)
    const ofGit = own.filter(([first]) => first === '.git')
    const held = inner.held(folder)
    others.push(() => inner.others(folder, held))
    const rules = [
      ...own,
      ...(isBare ? ofGit.map((rule) => rule.slice(1)) : []),
      ...held.flatMap((way) => ofGit.map((rule) => [...way, ...rule])),
    ]
    const single = rules.flatMap(([first = '', ...deeper]) => (deeper.length === 0 ? [first] : []))
    names.set(folder, byName ? single.filter((name) => name.includes('*')) : single)
    for (const [first = '', ...deeper] of rules)
      // Names that differ only in capital letters are the same elsewhere, on another disk.
      for (const name of new Set([first, ...(spellings.get(foldName(first)) ?? [])]))
        attempt(() => settle(folder, [name, ...deeper]))
    if (!statsOf(join(folder, '.git'))) settleMissing(folder, ['.git'], 0)
    if (!isBare) missing.push({ folder, steps: ['HEAD'], isHarmless: (at) => !isRepository(at) })
    const worktree = worktreeOf(folder)?.own
    if (worktree !== undefined) for (const name of WORKTREE_PROTECTED) attempt(() => settle(worktree, [name]))
  }
  for (const path of masked) {
    const folder = folders.find((one) => path !== one && isBelow(path, one))
    const steps = path.slice((folder ?? '').length + 1).split('/')
    if (folder === undefined) continue
    for (const way of steps.slice(1).map((_, index) => steps.slice(0, index + 1)))
      if (!anchors.has(join(folder, ...way))) attempt(() => hold(folder, way, anchors))
  }
  const kept = keepMissing({
    names,
    missing,
    links: [...links.values()],
    others: () => others.flatMap((one) => one()),
    approved,
    onKnown: (path, isKnown) => onKnown?.(path, isKnown),
  })

  return {
    anchors: sourcesOf(anchors),
    fixed: sourcesOf(fixed),
    missing: patternsOf(names, missing),
    present: kept.present,
    begun(lid, stop = () => undefined) {
      for (const held of [...anchors.values(), ...fixed.values()]) held?.release()
      anchors.clear()
      fixed.clear()
      kept.begun(lid, stop)
    },
    found: () => kept.found(),
    check: () => kept.check(),
    repeated: () => kept.repeated(),
    release() {
      this.begun()
      kept.close()
    },
  }
}

const MAX_DEPTH = 5

const EMPTY_IN_GIT: ReadonlyMap<string, (at: string, name: string) => void> = new Map([
  ['.git/hooks', (at, name) => ownAs(at, name, () => mkdirSync(`${at}/${name}`, 0o755))],
  ['.git/config', (at, name) => ownAs(at, name, () => writeFileSync(`${at}/${name}`, '', { flag: 'wx', mode: 0o644 }))],
])

/** The superuser makes something for whoever owns the folder. */
function ownAs(at: string, name: string, make: () => void): void {
  make()
  const stats = process.getuid?.() === 0 ? statsOf(`${at}/.`) : undefined
  if (stats && stats.uid !== 0) lchownSync(`${at}/${name}`, stats.uid, stats.gid)
}

/** All that is missing in a folder, those that are missing at its top as patterns of names. */
function patternsOf(
  names: ReadonlyMap<string, readonly string[]>,
  missing: readonly MissingPath[],
): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>([...names].map(([folder, patterns]) => [folder, [...patterns]]))
  for (const { folder, steps } of missing) all.set(folder, [...(all.get(folder) ?? []), steps.join('/')])
  return all
}

function sourcesOf(held: ReadonlyMap<string, Grip | undefined>): Source[] {
  return [...held]
    .map(([path, one]) => ({ path, ...(one?.descriptor !== undefined && { descriptor: one.descriptor }) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

function namesLike(folder: string, pattern: string): string[] {
  const matcher = nameMatcher([pattern])
  return namesIn(folder).filter((name) => matcher.test(name))
}
