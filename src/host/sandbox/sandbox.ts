import { closeSync, fstatSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { PROTECTED_PATHS } from '../../model/security/protected-paths.ts'
import { watchProtectedPaths } from '../process/kill-on-exit.ts'
import { openPathHandle } from '../files/path-handle.ts'
import { findRealPath } from '../files/resolve-path.ts'
import { killGroup } from '../process/process-group.ts'
import { HostError } from '../host-error.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { createApprovedWrites } from './protect/approved-writes.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { buildBubblewrapArguments, hasOwnProcessCount, listTopMounts, type BubblewrapMode } from './bubblewrap.ts'
import { detectSandbox, type SandboxBackend, type SandboxUnavailable } from './detect-sandbox.ts'
import type { SeccompFilterFiles } from './detect-sandbox.ts'
import { type PathGuard, createPathGuard, type MountSource } from './protect/path-guard.ts'
import { createInnerRepositories } from './protect/inner-repositories.ts'
import { type SandboxLayout, type SandboxLayoutCache, createSandboxLayout, formatIdentity } from './layout.ts'
import type { QuarantinedPath } from './protect/missing-path-guard.ts'
import { removeTree, statNoFollow } from './protect/no-follow-files.ts'
import { type ProtectedPathRule, parsePathRule, toPathRules } from './protect/protected-path-rules.ts'
import { createSeatbeltProfile } from './seatbelt.ts'
import { hasAbstractSockets } from './unix-sockets.ts'
import { defined } from '../../model/defined.ts'

/** `auto`: if one is available; `on`: always, or commands do not run. */
export type SandboxMode = 'auto' | 'on' | 'off'

export interface SandboxOptions {
  readonly mode: SandboxMode
  /** Network access for commands; off by default. */
  readonly network?: boolean
  /** More paths that commands must not write, relative to a workspace folder. `name/**` means `name`. */
  readonly protect?: readonly string[]
  /** Our own folders that commands must not see: settings, sessions. */
  readonly hiddenFolders?: readonly string[]
  /** Folders that appear empty, except for the workspace in them: those of others are beside it. */
  readonly emptyFolders?: readonly string[]
  /** The user's home folder; by default that of this process. */
  readonly home?: string
  /** Where commands with network access keep package caches; by default in the scratch folder. */
  readonly caches?: string
  /** Commands with network access write the caches of the home folder, which programs outside of the sandbox use too. */
  readonly writeCaches?: boolean
}

export type SandboxState =
  | {
      readonly isActive: true
      readonly kind: 'bubblewrap' | 'seatbelt'
      readonly network: boolean
      /** Commands run as root, whom fewer limits hold. */
      readonly asRoot?: true
      readonly unfiltered?: true
    }
  | ({ readonly isActive: false } & SandboxUnavailable)

export interface SandboxLaunchOptions {
  readonly network?: boolean
  readonly visiblePaths?: readonly string[]
  /** The first descriptor number that is free in the program. */
  readonly firstDescriptor: number
  /** It may use Unix sockets even where they reach other programs of the machine. */
  readonly localSockets?: true
}

/** The program that starts a command in the sandbox, and what to do when the command ends. */
export interface SandboxLaunch {
  readonly program: string
  /** Followed by the command and its arguments. */
  readonly args: readonly string[]
  /** To be passed to the program after its own descriptors, in this order; each program reads some of them to their end. */
  openDescriptors(): readonly number[]
  /** The command has its own PID namespace, and ends with its parent. */
  readonly isolated: boolean
  /** Which files are mounted and covered. Two launches with the same arguments and this are the same; absent if unknown. */
  readonly identity?: readonly string[]
  /** The system counts its processes apart, so their number can be limited. */
  readonly hasOwnProcessCount?: boolean
  /** Is there nothing new, and nothing gone, where it looked for protected paths and for secrets? */
  isCurrent(): boolean
  /** It was started as a process. */
  markStarted(pid?: number): void
  /** It is started no more. */
  closeDescriptors(): void
  /** What the command changed and was restored, since the last call. */
  found(): readonly QuarantinedPath[]
  /** The same, after a scan. */
  check(): readonly QuarantinedPath[]
  /** The protected path that the command kept creating, so that it was stopped. */
  repeated(): string | undefined
  /** All processes of the command have ended. */
  release(): void
}

export interface Sandbox {
  readonly mode: SandboxMode
  /** Detected once, when it is first asked for. */
  state(): Promise<SandboxState>
  /** Prepares a launch from a folder by its real path; undefined without a sandbox. */
  prepareLaunch(folder: string, options: SandboxLaunchOptions): Promise<SandboxLaunch | undefined>
  /** Prepares a launch that is about to be asked for. */
  prepareAhead?(folder: string, options: SandboxLaunchOptions): Promise<void>
  /** Called before an approved write or removal. */
  approveWrite(path: string): void
  /** Returns what was changed and restored, and not reported by its launch. */
  close(): readonly QuarantinedPath[]
}

/** Bubblewrap on Linux, Seatbelt on macOS. The folders are read for each command. */
export function createLocalSandbox(
  options: SandboxOptions,
  workspacePaths: { readonly folders: readonly string[]; readonly scratch: string; readonly locks?: string },
  roots: AllowedRoots,
): Sandbox {
  const protectedPaths = PROTECTED_PATHS.filter(({ isHomeOnly }) => !isHomeOnly)
  const projectRules: readonly ProtectedPathRule[] = [
    ...toPathRules(protectedPaths),
    ...(options.protect ?? []).flatMap(parsePathRule),
  ]
  const homePaths = PROTECTED_PATHS.filter(({ isHomeOnly }) => isHomeOnly)
  const allRules = [...projectRules, ...toPathRules(homePaths)]
  const userHome = options.home ?? homedir()
  const resolveHome = (): string => findRealPath(userHome) ?? userHome
  const rulesFor = (folder: string): readonly ProtectedPathRule[] => {
    const home = resolveHome()
    const nestedFolders = workspacePaths.folders
      .map((one) => findRealPath(one) ?? one)
      .filter((one) => one !== folder && isInsideFolder(one, folder))
    const rules = [...projectRules, ...nestedFolders.flatMap((one) => nestedFolderRules(folder, one, projectRules))]
    if (!isInsideFolder(home, folder)) return rules
    const homePath = relative(folder, home)
    return [...rules, ...toPathRules(homePaths.map((one) => ({ ...one, path: join(homePath, one.path) })))]
  }
  let backendPromise: Promise<SandboxBackend | SandboxUnavailable> | undefined
  const detectOnce = (): Promise<SandboxBackend | SandboxUnavailable> => {
    if (workspacePaths.folders.some((folder) => realpathSync(folder) === '/')) return WORKSPACE_IS_ROOT
    return (backendPromise ??= options.mode === 'off' ? SANDBOX_SWITCHED_OFF : detectSandbox(roots))
  }
  const approved = createApprovedWrites(workspacePaths.locks)
  const innerRepositories = createInnerRepositories()
  const running = new Set<Pick<PathGuard, 'check' | 'release'>>()
  const layoutCache: SandboxLayoutCache = { realPaths: new Map(), secrets: new Set() }
  let hasTemporary = false

  return {
    mode: options.mode,

    async state() {
      const backend = await detectOnce()
      if ('why' in backend) return { isActive: false, ...backend }
      return {
        isActive: true,
        kind: backend.kind,
        network: options.network ?? false,
        ...(process.getuid?.() === 0 && { asRoot: true }),
        ...(backend.kind === 'bubblewrap' && !backend.mode.filter && { unfiltered: true }),
      }
    },

    async prepareLaunch(
      folder,
      { network = options.network ?? false, visiblePaths = [], firstDescriptor, localSockets },
    ) {
      const backend = await detectOnce()
      if ('why' in backend) return undefined
      mkdirSync(workspacePaths.scratch, { recursive: true, mode: 0o700 })
      const scratch = realpathSync(workspacePaths.scratch)
      const layout = createSandboxLayout({
        folders: workspacePaths.folders,
        home: resolveHome(),
        secretFolders: options.hiddenFolders ?? [],
        ...defined({ emptyFolders: options.emptyFolders }),
        path: [process.env['PATH'] ?? '', ...visiblePaths].join(delimiter),
        network,
        ...(!options.writeCaches && { caches: options.caches ?? join(scratch, 'caches') }),
        cache: layoutCache,
      })
      const isolated = backend.kind === 'bubblewrap'
      const pathGuard = createPathGuard({
        folders: layout.workspace,
        rulesFor,
        masked: [...layout.masked.map((one) => one.path), scratch],
        matchesByName: !isolated,
        approved,
        inner: innerRepositories,
        onKnown: (one, isKnown) => watched?.setKnown(one, isKnown),
      })
      const watched = isolated ? watchProtectedPaths(pathGuard) : undefined
      const { found, check, repeated } = pathGuard
      const lifecycle = {
        isCurrent: () => pathGuard.isCurrent() && layout.isCurrent(),
        found,
        check,
        repeated,
        release: () => {
          pathGuard.release()
          watched?.end()
          running.delete(lifecycle)
        },
      }
      running.add(lifecycle)
      if (!isolated) {
        backend.kind satisfies 'seatbelt'
        const tmpFolders = [prepareTmpFolder(scratch, [])]
        const profile = createSeatbeltProfile({ layout, guard: pathGuard, scratch: tmpFolders, network })
        hasTemporary = true
        const { program } = backend
        const nothing = () => undefined
        const descriptors = { openDescriptors: () => [], closeDescriptors: nothing }
        return { program, args: ['-p', profile], ...descriptors, isolated, markStarted: nothing, ...lifecycle }
      }
      const childDescriptors: number[] = []
      const openHandles: { release(): void }[] = []
      const filter = findSeccompFilter(backend, network && !localSockets && hasAbstractSockets())
      const firstMounted = firstDescriptor + (filter === undefined ? 0 : 1)
      const toChildDescriptor = (descriptor: number): number => firstMounted + childDescriptors.push(descriptor) - 1
      try {
        const tmpFolder = prepareTmpFolder(scratch, listTopMounts('/tmp', { layout, scratch }))
        hasTemporary = true
        for (const { source } of layout.privateCaches) mkdirSync(source, { recursive: true, mode: 0o700 })
        const writable = layout.writable.map((one): MountSource => {
          const handle = openPathHandle(one)
          openHandles.push(handle)
          if (handle.stats.isSymbolicLink()) throw new HostError('moved', `${one} was replaced by a link.`)
          return { path: one, ...defined({ descriptor: handle.descriptor }) }
        })
        const args = buildBubblewrapArguments(backend.mode, {
          layout: { ...layout, writable },
          guard: pathGuard,
          tmpFolder,
          scratch,
          folder,
          network,
          needsFileCapabilities: worksOnForeignFiles(backend.mode, layout),
          ...(backend.bindsDescriptors && { toChildDescriptor }),
          ...(filter !== undefined && { filter: firstDescriptor }),
        })
        const canCompare = backend.bindsDescriptors && !network
        const identity = canCompare && [
          ...childDescriptors.map((descriptor) => formatIdentity(fstatSync(descriptor))),
          ...layout.maskIdentity,
        ]
        const markStarted = (pid?: number): void =>
          pathGuard.markStarted(pid, () => pid !== undefined && killGroup({ id: pid, marker: '', isolated: true }))
        let isStartable = true
        const closeDescriptors = (): void => {
          isStartable = false
          pathGuard.closeDescriptors()
          for (const one of openHandles.splice(0)) one.release()
        }
        return {
          program: backend.program,
          args,
          openDescriptors() {
            // Their numbers may belong to other files by now.
            if (!isStartable) throw new HostError('moved', 'The sandbox is prepared no more.')
            if (filter === undefined) return childDescriptors
            const descriptor = openSync(filter, 'r')
            openHandles.push({ release: () => closeSync(descriptor) })
            return [descriptor, ...childDescriptors]
          },
          isolated,
          ...(identity && { identity }),
          hasOwnProcessCount: hasOwnProcessCount(backend.mode),
          closeDescriptors,
          markStarted,
          ...lifecycle,
        }
      } catch (error) {
        for (const one of openHandles) one.release()
        pathGuard.closeDescriptors()
        lifecycle.release()
        throw error
      }
    },

    approveWrite(path) {
      approved.add(path, allRules)
    },
    close() {
      const found = [...running].flatMap((one) => one.check())
      for (const one of running) one.release()
      if (hasTemporary) removeTree(workspacePaths.scratch, 'tmp')
      return found
    },
  }
}

const SANDBOX_SWITCHED_OFF: Promise<SandboxUnavailable> = Promise.resolve({ why: 'It is turned off.' })
const WORKSPACE_IS_ROOT: Promise<SandboxUnavailable> = Promise.resolve({ why: 'The workspace is the whole disk.' })

/** The folder that commands see as /tmp, with real folders as mount points. */
function prepareTmpFolder(scratch: string, mounts: readonly string[]): string {
  const tmpFolder = join(scratch, 'tmp')
  mkdirSync(tmpFolder, { recursive: true, mode: 0o700 })
  for (const name of mounts.map((path) => path.slice('/tmp/'.length))) {
    const stats = statNoFollow(join(tmpFolder, name))
    if (stats && !stats.isDirectory()) removeTree(tmpFolder, name)
    if (!stats?.isDirectory()) mkdirSync(join(tmpFolder, name), { recursive: true, mode: 0o755 })
  }
  return tmpFolder
}

function findSeccompFilter(
  { mode, filters }: { mode: BubblewrapMode; filters?: SeccompFilterFiles },
  withoutLocalSockets: boolean,
): string | undefined {
  if (!mode.filter || !filters) return undefined
  return withoutLocalSockets ? filters.withoutLocalSockets : filters.withLocalSockets
}

/** Does root work in somebody else's folder? Then it needs its rights over files of others. */
function worksOnForeignFiles({ user }: BubblewrapMode, { workspace }: SandboxLayout): boolean {
  return !user && process.getuid?.() === 0 && workspace.some((folder) => statSync(folder).uid !== 0)
}

/** The rules for a nested workspace folder. A command may create a repository there. */
function nestedFolderRules(outer: string, folder: string, rules: readonly ProtectedPathRule[]): ProtectedPathRule[] {
  const hasGit = statNoFollow(join(folder, '.git')) !== undefined
  const nestedPath = relative(outer, folder).split('/')
  return rules.flatMap((rule) => (rule[0] === '.git' && !hasGit ? [] : [[...nestedPath, ...rule]]))
}
