import { closeSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { PROTECTED_PATHS } from '../../model/protected.ts'
import { expectBoxed } from '../end-with-us.ts'
import { grip } from '../grip.ts'
import { stopNow } from '../group.ts'
import { HostProblem } from '../problem.ts'
import type { Roots } from '../roots.ts'
import { approvedWrites } from './approved-writes.ts'
import { isBelow } from './below.ts'
import { bubblewrapArguments, countsApart, topsIn, type Way } from './bubblewrap.ts'
import { type FilterFiles, type Found, findSandbox, type Missing } from './find.ts'
import { type Guard, guard, type Source } from './guard.ts'
import { innerRepositories } from './inner-repositories.ts'
import { type Layout, type LayoutMemory, layoutOf } from './layout.ts'
import type { SetAside } from './missing-paths.ts'
import { removeTree, statsOf } from './no-follow.ts'
import { type Rule, ruleOfSetting, rulesOf } from './rules.ts'
import { seatbeltProfile } from './seatbelt.ts'
import { hasAbstractSockets } from './sockets.ts'

/** Whether commands run in a sandbox: where there is one, always (or not at all), or never. */
export type SandboxMode = 'auto' | 'on' | 'off'

/** What is settled about the sandbox. */
export interface SandboxOptions {
  readonly mode: SandboxMode
  /** May commands reach the network? Not if this is absent. */
  readonly network?: boolean
  /** Paths that commands must not write, relative to a workspace folder, beside the usual ones. `name/**` means `name`. */
  readonly protect?: readonly string[]
  /** Folders of ours that commands must not see: settings, sessions. */
  readonly secret?: readonly string[]
  /** The person's home folder; this process's if it is absent. */
  readonly home?: string
  /** Where caches of packages are kept that commands with the network fill; in the scratch folder if this is absent. */
  readonly caches?: string
  /** Commands with the network write the caches of the home folder, which programs outside of the sandbox use too. */
  readonly writeCaches?: boolean
}

/** Is there a sandbox? If not, why, and how to get one. */
export type SandboxState =
  | {
      readonly inForce: true
      readonly kind: 'bubblewrap' | 'seatbelt'
      readonly network: boolean
      /** Commands run as the superuser, whom fewer walls hold. */
      readonly asRoot?: true
      /** System calls are not filtered here. */
      readonly unfiltered?: true
    }
  | { readonly inForce: false; readonly why: string; readonly remedy?: string }

/** How a program is to run in the sandbox. */
export interface EncloseOptions {
  readonly network?: boolean
  /** More paths that it may see. */
  readonly seen?: readonly string[]
  /** The number of the first descriptor that the program does not have yet. */
  readonly firstDescriptor: number
  /** It may make sockets of the local kind even where that reaches other programs of the machine. */
  readonly localSockets?: true
}

/** A program that starts a command inside, and what must be done when the command has ended. */
export interface Enclosed {
  readonly program: string
  /** To be followed by the command and its arguments. */
  readonly args: readonly string[]
  /** What the program must be given after the descriptors that it has already, in this order. */
  readonly descriptors: readonly number[]
  /** The command has processes of its own numbering, and ends with whoever started it. */
  readonly boxed: boolean
  /** The system counts its processes apart from all others of the person, so it can be held to a number. */
  readonly countedApart?: boolean
  /** It has been started as a process, or could not be: its descriptors are closed here. */
  begun(pid?: number): void
  /** What the command changed, could not be kept from changing, and was put back, since it was last asked. */
  found(): readonly SetAside[]
  /** The same, after a look. */
  check(): readonly SetAside[]
  /** The protected path that the command went on making, so that it was stopped. */
  repeated(): string | undefined
  /** All processes of the command have ended. */
  release(): void
}

/** Runs programs where they can do little harm. */
export interface Sandbox {
  readonly mode: SandboxMode
  /** Found out once, when it is first asked for. */
  state(): Promise<SandboxState>
  /** A way in, from a folder by its real path; none if there is no sandbox. */
  enclose(folder: string, options: EncloseOptions): Promise<Enclosed | undefined>
  /** A tool that was allowed to is about to write or remove this path. */
  approve(path: string): void
  close(): void
}

/** The sandbox of this machine: bubblewrap on Linux, Seatbelt on macOS. The folders are read again for each command. */
export function localSandbox(
  options: SandboxOptions,
  places: { readonly folders: readonly string[]; readonly scratch: string; readonly locks?: string },
  roots: Roots,
): Sandbox {
  const protectedPaths = PROTECTED_PATHS.filter(({ isOfHome }) => !isOfHome)
  const usual: readonly Rule[] = [...rulesOf(protectedPaths), ...(options.protect ?? []).flatMap(ruleOfSetting)]
  const ofHome = PROTECTED_PATHS.filter(({ isOfHome }) => isOfHome)
  const allRules = [...usual, ...rulesOf(ofHome)]
  const protect = (folder: string): readonly Rule[] => {
    const home = realOrSame(options.home ?? homedir())
    const inner = places.folders.map(realOrSame).filter((one) => one !== folder && isBelow(one, folder))
    const rules = [...usual, ...inner.flatMap((one) => rulesInside(folder, one, usual))]
    if (!isBelow(home, folder)) return rules
    const way = relative(folder, home)
    return [...rules, ...rulesOf(ofHome.map((one) => ({ ...one, path: join(way, one.path) })))]
  }
  let found: Promise<Found | Missing> | undefined
  const find = (): Promise<Found | Missing> => {
    if (places.folders.some((folder) => realpathSync(folder) === '/')) return WHOLE_DISK
    return (found ??= options.mode === 'off' ? OFF : findSandbox(roots))
  }
  const approved = approvedWrites(places.locks)
  const inner = innerRepositories()
  const running = new Set<Pick<Guard, 'check' | 'release'>>()
  const memory: LayoutMemory = { real: new Map(), secrets: new Set() }
  let hasTemporary = false

  return {
    mode: options.mode,

    async state() {
      const have = await find()
      if ('why' in have) return { inForce: false, ...have }
      return {
        inForce: true,
        kind: have.kind,
        network: options.network ?? false,
        ...(process.getuid?.() === 0 && { asRoot: true }),
        ...(have.kind === 'bubblewrap' && !have.way.filter && { unfiltered: true }),
      }
    },

    async enclose(folder, { network = options.network ?? false, seen = [], firstDescriptor, localSockets }) {
      const have = await find()
      if ('why' in have) return undefined
      mkdirSync(places.scratch, { recursive: true, mode: 0o700 })
      const scratch = realpathSync(places.scratch)
      const home = realOrSame(options.home ?? homedir())
      const path = [process.env['PATH'] ?? '', ...seen].join(delimiter)
      const caches = options.writeCaches ? {} : { caches: options.caches ?? join(scratch, 'caches') }
      const { folders } = places
      const layout = layoutOf({ folders, home, secret: options.secret ?? [], path, network, ...caches, memory })
      const boxed = have.kind === 'bubblewrap'
      const masked = [...layout.masked.map((one) => one.path), scratch]
      const onKnown = (one: string, isKnown: boolean): void => watched?.mark(one, isKnown)
      const held = guard({ folders: layout.workspace, protect, masked, byName: !boxed, approved, inner, onKnown })
      const watched = boxed ? expectBoxed(held) : undefined
      const ends = {
        found: () => held.found(),
        check: () => held.check(),
        repeated: () => held.repeated(),
        release: () => {
          held.release()
          watched?.end()
          running.delete(ends)
        },
      }
      running.add(ends)
      if (!boxed) {
        const profile = seatbeltProfile({ layout, guard: held, scratch: [prepareTemporary(scratch, [])], network })
        hasTemporary = true
        return { program: have.program, args: ['-p', profile], descriptors: [], boxed, begun: () => undefined, ...ends }
      }
      const passed: number[] = []
      const opened: { release(): void }[] = []
      const numberOf = (descriptor: number): number => firstDescriptor + passed.push(descriptor) - 1
      try {
        const temporary = prepareTemporary(scratch, topsIn('/tmp', { layout, scratch }))
        hasTemporary = true
        for (const { source } of layout.privateCaches) mkdirSync(source, { recursive: true, mode: 0o700 })
        const writable = layout.writable.map((one): Source => {
          const taken = grip(one)
          opened.push(taken)
          if (taken.stats.isSymbolicLink()) throw new HostProblem('moved', `${one} was exchanged for a link.`)
          return { path: one, ...(taken.descriptor !== undefined && { descriptor: taken.descriptor }) }
        })
        const filter = filterFor(have, network && !localSockets && hasAbstractSockets())
        if (filter !== undefined) opened.push({ release: () => closeSync(filter) })
        const ownsOthers = ownsForeign(have.way, layout)
        const args = bubblewrapArguments(have.way, {
          layout: { ...layout, writable },
          guard: held,
          temporary,
          scratch,
          folder,
          network,
          ownsOthers,
          ...(have.abilities.holds && { numberOf }),
          ...(filter !== undefined && { filter: numberOf(filter) }),
        })
        const begun = (pid?: number): void => {
          held.begun(pid, () => pid !== undefined && stopNow({ id: pid, mark: '', boxed: true }))
          for (const one of opened.splice(0)) one.release()
        }
        const { program, way } = have
        return { program, args, descriptors: passed, boxed, countedApart: countsApart(way), begun, ...ends }
      } catch (error) {
        for (const one of opened) one.release()
        ends.release()
        throw error
      }
    },

    approve(path) {
      approved.add(path, allRules)
    },
    close() {
      for (const one of running) {
        one.check()
        one.release()
      }
      if (hasTemporary) removeTree(places.scratch, 'tmp')
    },
  }
}

const OFF: Promise<Missing> = Promise.resolve({ why: 'It is switched off.' })
const WHOLE_DISK: Promise<Missing> = Promise.resolve({ why: 'The workspace is the whole disk.' })

/** The folder that is /tmp to commands, with real folders where something is to be mounted in it. */
function prepareTemporary(scratch: string, mounts: readonly string[]): string {
  const temporary = join(scratch, 'tmp')
  mkdirSync(temporary, { recursive: true, mode: 0o700 })
  for (const name of mounts.map((path) => path.slice('/tmp/'.length))) {
    const stats = statsOf(join(temporary, name))
    if (stats && !stats.isDirectory()) removeTree(temporary, name)
    if (!stats?.isDirectory()) mkdirSync(join(temporary, name), { recursive: true, mode: 0o755 })
  }
  return temporary
}

/** A descriptor of the filter of system calls. */
function filterFor(
  { way, filters }: { way: Way; filters?: FilterFiles },
  withoutLocalSockets: boolean,
): number | undefined {
  if (!way.filter || !filters) return undefined
  return openSync(withoutLocalSockets ? filters.narrow : filters.usual, 'r')
}

/** Does the superuser work in a folder of somebody else? Then he needs his rights over the files of others. */
function ownsForeign({ user }: Way, { workspace }: Layout): boolean {
  return !user && process.getuid?.() === 0 && workspace.some((folder) => statSync(folder).uid !== 0)
}

/** The rules of a folder of the workspace that lies inside another. A command may make a repository there. */
function rulesInside(outer: string, folder: string, rules: readonly Rule[]): Rule[] {
  const hasGit = statsOf(join(folder, '.git')) !== undefined
  const way = relative(outer, folder).split('/')
  return rules.flatMap((rule) => (rule[0] === '.git' && !hasGit ? [] : [[...way, ...rule]]))
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
