import { readdirSync, readlinkSync, symlinkSync, watch } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ProtectedPath } from '../../model/protected.ts'
import { type Grip, grip } from '../grip.ts'
import { activityBelow } from './activity.ts'
import { isBelow } from './below.ts'
import { attempt, inFolderOf, setAside, statsOf } from './no-follow.ts'
import { holdStandIn, isLeased, isStandIn, releaseStandIn, removeAbandoned } from './stand-in.ts'
import { WORKTREE_PROTECTED, worktreeOf } from './worktree.ts'

/** A path to mount, and a descriptor of what was found there, so that nothing else can be mounted in its place. */
export interface Source {
  readonly path: string
  readonly descriptor?: number
}

/** How protected paths are held while a command runs. */
export interface Guard {
  /** Folders on the way to protected paths. They are mounted onto themselves, because what is mounted cannot be renamed. */
  readonly anchors: readonly Source[]
  /** What is only to be read. */
  readonly fixed: readonly Source[]
  /** Stand-ins for what is missing. */
  readonly blocked: readonly string[]
  /** The command has been started, and the descriptors are not needed any more; what it runs is below a process. */
  begun(lid?: number): void
  /** A tool may make this path, which is then not the command's doing. */
  accept(path: string): void
  /** Puts back what could not be mounted and was changed; gives the paths that it has found since it was last asked. */
  check(): string[]
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
  /** Must there be something to mount on? Seatbelt judges by name alone. */
  readonly standIns: boolean
}

/** A path from the top of a folder, as steps, in which `*` stands for part of a name. */
export interface Rule {
  readonly steps: readonly string[]
  readonly ifMissing: ProtectedPath['ifMissing']
}

/** The rules that a list of paths means. */
export function rulesOf(paths: readonly ProtectedPath[]): Rule[] {
  return paths.flatMap(({ path, parts, ifMissing }) =>
    (parts ?? [path]).map((one) => ({ steps: one.replace(/\/\*\*$/, '').split('/'), ifMissing })),
  )
}

/** Guards paths inside folders for one command. */
export function guard({ folders, protect, masked = [], standIns }: GuardOptions): Guard {
  const anchors = new Map<string, Grip>()
  const fixed = new Map<string, Grip | undefined>()
  const blocked = new Set<string>()
  const links = new Map<
    string,
    { readonly folder: string; readonly steps: readonly string[]; readonly target: string }
  >()
  const unwanted: Unwanted[] = []

  function settle(folder: string, steps: readonly string[], { ifMissing }: Pick<Rule, 'ifMissing'>, depth = 0): void {
    const settled: string[] = []
    for (const [index, step] of steps.entries()) {
      const at = join(folder, ...settled)
      if (step.includes('*')) {
        const rest = steps.slice(index + 1)
        for (const name of namesLike(at, step)) settle(folder, [...settled, name, ...rest], { ifMissing }, depth)
        return
      }
      const path = join(at, step)
      settled.push(step)
      const stats = isLeased(path) ? undefined : statsOf(path)
      if (!stats || isStandIn(path)) {
        if (ifMissing === 'remove') {
          const isTop = steps.length === 1 && folders.includes(folder)
          if (!isTop) unwanted.push({ folder, steps: [...settled, ...steps.slice(index + 1)] })
          return
        }
        if (!standIns) return void fixed.set(path, undefined)
        if (blocked.has(path) || holdStandIn(path)) return void blocked.add(path)
        if (depth < MAX_DEPTH && statsOf(path)) settle(folder, steps, { ifMissing }, depth + 1)
        return
      }
      if (stats.isSymbolicLink()) {
        const target = resolve(at, readlinkSync(path))
        links.set(path, { folder, steps: settled, target: readlinkSync(path) })
        const inside = folders.find((one) => isBelow(target, one))
        const rest = target.slice((inside ?? '').length + 1).split('/')
        if (inside !== undefined && target !== inside && depth < MAX_DEPTH)
          settle(inside, [...rest, ...steps.slice(index + 1)], { ifMissing }, depth + 1)
        return
      }
      // A file where a folder should be is what decides: `.git` of a worktree, for one.
      const isLast = index === steps.length - 1 || !stats.isDirectory()
      const sources = isLast ? fixed : anchors
      if (!sources.has(path)) hold(folder, settled, sources)
      if (isLast) return
    }
  }

  function hold(folder: string, steps: readonly string[], sources: Map<string, Grip | undefined>): void {
    const held = inFolderOf(folder, steps, (at, name) => grip(`${at}/${name}`))
    if (held?.stats.isSymbolicLink()) held.release()
    else if (held) sources.set(join(folder, ...steps), held)
  }

  const patterns = new Map<string, RegExp>()
  for (const folder of folders) {
    const spellingsOf = spellingsIn(folder)
    const rules = protect(folder)
    for (const { steps, ifMissing } of rules) {
      const [first = '', ...deeper] = steps
      // Names that differ only in capital letters are the same elsewhere, on another disk.
      for (const name of new Set([first, ...spellingsOf(first)]))
        attempt(() => settle(folder, [name, ...deeper], { ifMissing }))
    }
    const late = rules.filter(({ steps, ifMissing }) => ifMissing === 'remove' && steps.length === 1)
    patterns.set(folder, anyOf(late.map(({ steps }) => steps[0] ?? '')))
    const own = worktreeOf(folder)?.own
    if (own !== undefined)
      for (const name of WORKTREE_PROTECTED) attempt(() => settle(own, [name], { ifMissing: 'remove' }))
  }
  for (const path of masked) {
    const folder = folders.find((one) => path !== one && isBelow(path, one))
    const steps = path.slice((folder ?? '').length + 1).split('/')
    if (folder === undefined) continue
    for (const way of steps.slice(1).map((_, index) => steps.slice(0, index + 1)))
      if (!anchors.has(join(folder, ...way))) attempt(() => hold(folder, way, anchors))
  }
  const before = new Map(folders.map((folder) => [folder, new Set(listOf(folder))]))

  /** Names at the top of a folder are found in one look at it. */
  function* newNames(): Generator<Unwanted> {
    for (const [folder, known] of before)
      for (const name of listOf(folder))
        if (!known.has(name) && !ASIDE.test(name) && patterns.get(folder)?.test(name)) yield { folder, steps: [name] }
  }

  const found = new Set<string>()
  const accepted = new Set<string>()
  let lid: number | undefined
  let activity: string | undefined

  /** What has come since the last look is the person's own if nothing in the box has run since before that look. */
  function look(): void {
    const now = lid === undefined ? undefined : activityBelow(lid)
    const present = [...newNames(), ...unwanted].filter(isPresent)
    const changed = [...links].filter(([, link]) => inFolderOf(link.folder, link.steps, differs(link.target)))
    const isOwn = activity !== undefined && lid !== undefined && activityBelow(lid) === activity
    activity = now
    for (const { folder, steps } of present) {
      if (accepted.has(join(folder, ...steps))) continue
      if (isOwn) accepted.add(join(folder, ...steps))
      const path = isOwn ? undefined : removeNew(folder, steps, links)
      if (path !== undefined) found.add(path)
    }
    for (const [path, { folder, steps, target }] of changed) {
      if (isOwn) links.delete(path)
      else if (inFolderOf(folder, steps, (at, name) => putBack(at, name, target))) found.add(path)
    }
  }
  const watching = watchFor(folders, look)

  return {
    anchors: sourcesOf(anchors),
    fixed: sourcesOf(fixed),
    blocked: [...blocked].sort(),
    begun(pid) {
      for (const held of [...anchors.values(), ...fixed.values()]) held?.release()
      anchors.clear()
      fixed.clear()
      lid = pid
    },
    accept(path) {
      accepted.add(path)
      links.delete(path)
    },
    check() {
      look()
      const paths = [...found]
      found.clear()
      return paths
    },
    release() {
      this.begun()
      watching.close()
      for (const path of blocked) releaseStandIn(path)
      blocked.clear()
    },
  }
}

/** Removes stand-ins that were left in folders by a process that was killed. */
export function removeAbandonedIn(folders: readonly string[], protect: (folder: string) => readonly Rule[]): void {
  for (const folder of folders) {
    const ways = protect(folder).flatMap(({ steps }) =>
      steps.map((_, index) => join(folder, ...steps.slice(0, index + 1))),
    )
    for (const path of new Set(ways)) removeAbandoned(path)
  }
}

interface Unwanted {
  readonly folder: string
  readonly steps: readonly string[]
}

const MAX_DEPTH = 5

function sourcesOf(held: ReadonlyMap<string, Grip | undefined>): Source[] {
  return [...held]
    .map(([path, one]) => ({ path, ...(one?.descriptor !== undefined && { descriptor: one.descriptor }) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** Sets aside what a command has made at a path, or the first link on the way to it; gives its path. */
function removeNew(folder: string, steps: readonly string[], links: ReadonlyMap<string, unknown>): string | undefined {
  for (let count = 1; count <= steps.length; count++) {
    const way = steps.slice(0, count)
    const path = join(folder, ...way)
    if (links.has(path)) return undefined
    const isThere = inFolderOf(folder, way, (at, name) => {
      const stats = statsOf(`${at}/${name}`)
      if (!stats || isStandIn(`${at}/${name}`)) return 'missing'
      if (count < steps.length && !stats.isSymbolicLink()) return 'on the way'
      return setAside(at, name) === undefined ? 'missing' : 'set aside'
    })
    if (isThere === 'set aside') return path
    if (isThere !== 'on the way') return undefined
  }
  return undefined
}

/** Is something at a path, or a link on the way to it? */
function isPresent({ folder, steps }: Unwanted): boolean {
  return steps.some((_, index) => {
    const stats = statsOf(join(folder, ...steps.slice(0, index + 1)))
    return stats !== undefined && (index === steps.length - 1 || stats.isSymbolicLink())
  })
}

function differs(target: string): (at: string, name: string) => boolean {
  return (at, name) => {
    const now = statsOf(`${at}/${name}`)
    return !now?.isSymbolicLink() || readlinkSync(`${at}/${name}`) !== target
  }
}

/** A link cannot be mounted, so it is put back as it was. */
function putBack(at: string, name: string, target: string): boolean {
  if (statsOf(`${at}/${name}`)) setAside(at, name)
  return attempt(() => symlinkSync(target, `${at}/${name}`))
}

/** Looks as soon as something new is in a folder, and now and then for what is deeper. */
function watchFor(folders: readonly string[], look: () => void): { close(): void } {
  let due: NodeJS.Timeout | undefined
  const soon = (): void => {
    due ??= setTimeout(() => {
      due = undefined
      attempt(look)
    }, SOON).unref()
  }
  const timer = setInterval(() => attempt(look), OFTEN).unref()
  const watchers = folders.flatMap((folder) => {
    try {
      const watcher = watch(folder, { persistent: false }, (event) => void (event === 'rename' && soon()))
      return [watcher.on('error', () => undefined)]
    } catch {
      return []
    }
  })
  return {
    close() {
      clearInterval(timer)
      clearTimeout(due)
      for (const watcher of watchers) watcher.close()
    },
  }
}

/** What was set aside before. */
const ASIDE = /\.set-aside(?:-[0-9a-f]{8})?$/

const SOON = 5
const OFTEN = 1000

function listOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function namesLike(folder: string, pattern: string): string[] {
  const matcher = anyOf([pattern])
  return listOf(folder).filter((name) => matcher.test(name))
}

function spellingsIn(folder: string): (name: string) => readonly string[] {
  const found = new Map<string, string[]>()
  for (const name of listOf(folder)) found.set(name.toLowerCase(), [...(found.get(name.toLowerCase()) ?? []), name])
  return (name) => found.get(name.toLowerCase()) ?? []
}

function anyOf(patterns: readonly string[]): RegExp {
  const sources = patterns.map((one) => one.replace(/[.+^${}()|[\]\\?]/g, '\\$&').replaceAll('*', '.*'))
  return new RegExp(`^(?:${sources.join('|')})$`, 'is')
}
