import { closeSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { PROTECTED_PATHS } from '../../model/security/protected-paths.ts'
import { watchProtectedPaths } from '../process/kill-on-exit.ts'
import { openPathHandle } from '../files/path-handle.ts'
import { realPathOrUndefined } from '../files/resolve-path.ts'
import { killGroup } from '../process/process-group.ts'
import { HostError } from '../host-error.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { createApprovedWrites } from './protect/approved-writes.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { buildBubblewrapArguments, hasOwnProcessCount, listTopMounts, type BubblewrapMode } from './bubblewrap.ts'
import {
  type SeccompFilterFiles,
  type SandboxBackend,
  detectSandbox,
  type SandboxUnavailable,
} from './detect-sandbox.ts'
import { type PathGuard, createPathGuard, type MountSource } from './protect/path-guard.ts'
import { innerRepositories } from './protect/inner-repositories.ts'
import { type SandboxLayout, type SandboxLayoutCache, createSandboxLayout } from './layout.ts'
import type { QuarantinedPath } from './protect/missing-path-guard.ts'
import { removeTree, statNoFollow } from './protect/no-follow-files.ts'
import { type ProtectedPathRule, parsePathRule, toPathRules } from './protect/path-rules.ts'
import { createSeatbeltProfile } from './seatbelt.ts'
import { hasAbstractSockets } from './unix-sockets.ts'
import { defined } from '../../model/defined.ts'

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
  readonly hiddenFolders?: readonly string[]
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
      readonly isActive: true
      readonly kind: 'bubblewrap' | 'seatbelt'
      readonly network: boolean
      /** Commands run as the superuser, whom fewer walls hold. */
      readonly asRoot?: true
      /** System calls are not filtered here. */
      readonly unfiltered?: true
    }
  | ({ readonly isActive: false } & SandboxUnavailable)

/** How a program is to run in the sandbox. */
export interface SandboxLaunchOptions {
  readonly network?: boolean
  /** More paths that it may see. */
  readonly visiblePaths?: readonly string[]
  /** The number of the first descriptor that the program does not have yet. */
  readonly firstDescriptor: number
  /** It may make sockets of the local kind even where that reaches other programs of the machine. */
  readonly localSockets?: true
}

/** A program that starts a command inside, and what must be done when the command has ended. */
export interface SandboxLaunch {
  readonly program: string
  /** To be followed by the command and its arguments. */
  readonly args: readonly string[]
  /** What the program must be given after the descriptors that it has already, in this order. */
  readonly descriptors: readonly number[]
  /** The command has processes of its own numbering, and ends with whoever started it. */
  readonly isolated: boolean
  /** The system counts its processes apart from all others of the person, so it can be held to a number. */
  readonly hasOwnProcessCount?: boolean
  /** It has been started as a process, or could not be: its descriptors are closed here. */
  markStarted(pid?: number): void
  /** What the command changed, could not be kept from changing, and was put back, since it was last asked. */
  found(): readonly QuarantinedPath[]
  /** The same, after a look. */
  check(): readonly QuarantinedPath[]
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
  prepareLaunch(folder: string, options: SandboxLaunchOptions): Promise<SandboxLaunch | undefined>
  /** A tool that was allowed to is about to write or remove this path. */
  approveWrite(path: string): void
  close(): void
}

/** The sandbox of this machine: bubblewrap on Linux, Seatbelt on macOS. The folders are read again for each command. */
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
  const resolveHome = (): string => realPathOrUndefined(userHome) ?? userHome
  const rulesFor = (folder: string): readonly ProtectedPathRule[] => {
    const home = resolveHome()
    const nestedFolders = workspacePaths.folders
      .map((one) => realPathOrUndefined(one) ?? one)
      .filter((one) => one !== folder && isInsideFolder(one, folder))
    const rules = [...projectRules, ...nestedFolders.flatMap((one) => nestedFolderRules(folder, one, projectRules))]
    if (!isInsideFolder(home, folder)) return rules
    const bubblewrapMode = relative(folder, home)
    return [...rules, ...toPathRules(homePaths.map((one) => ({ ...one, path: join(bubblewrapMode, one.path) })))]
  }
  let backendPromise: Promise<SandboxBackend | SandboxUnavailable> | undefined
  const detectOnce = (): Promise<SandboxBackend | SandboxUnavailable> => {
    if (workspacePaths.folders.some((folder) => realpathSync(folder) === '/')) return WORKSPACE_IS_ROOT
    return (backendPromise ??= options.mode === 'off' ? SANDBOX_SWITCHED_OFF : detectSandbox(roots))
  }
  const approved = createApprovedWrites(workspacePaths.locks)
  const nestedFolders = innerRepositories()
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
      const home = resolveHome()
      const path = [process.env['PATH'] ?? '', ...visiblePaths].join(delimiter)
      const caches = options.writeCaches ? {} : { caches: options.caches ?? join(scratch, 'caches') }
      const { folders } = workspacePaths
      const layout = createSandboxLayout({
        folders,
        home,
        secretFolders: options.hiddenFolders ?? [],
        path,
        network,
        ...caches,
        cache: layoutCache,
      })
      const isolated = backend.kind === 'bubblewrap'
      const masked = [...layout.masked.map((one) => one.path), scratch]
      const onKnown = (one: string, isKnown: boolean): void => watched?.setKnown(one, isKnown)
      const pathGuard = createPathGuard({
        folders: layout.workspace,
        rulesFor,
        masked,
        matchesByName: !isolated,
        approved,
        inner: nestedFolders,
        onKnown,
      })
      const watched = isolated ? watchProtectedPaths(pathGuard) : undefined
      const lifecycle = {
        found: () => pathGuard.found(),
        check: () => pathGuard.check(),
        repeated: () => pathGuard.repeated(),
        release: () => {
          pathGuard.release()
          watched?.end()
          running.delete(lifecycle)
        },
      }
      running.add(lifecycle)
      if (!isolated) {
        const profile = createSeatbeltProfile({
          layout,
          guard: pathGuard,
          scratch: [prepareTmpFolder(scratch, [])],
          network,
        })
        hasTemporary = true
        return {
          program: backend.program,
          args: ['-p', profile],
          descriptors: [],
          isolated,
          markStarted: () => undefined,
          ...lifecycle,
        }
      }
      const childDescriptors: number[] = []
      const openHandles: { release(): void }[] = []
      const toChildDescriptor = (descriptor: number): number => firstDescriptor + childDescriptors.push(descriptor) - 1
      try {
        const tmpFolder = prepareTmpFolder(scratch, listTopMounts('/tmp', { layout, scratch }))
        hasTemporary = true
        for (const { source } of layout.privateCaches) mkdirSync(source, { recursive: true, mode: 0o700 })
        const writable = layout.writable.map((one): MountSource => {
          const handle = openPathHandle(one)
          openHandles.push(handle)
          if (handle.stats.isSymbolicLink()) throw new HostError('moved', `${one} was exchanged for a link.`)
          return { path: one, ...defined({ descriptor: handle.descriptor }) }
        })
        const filter = openSeccompFilter(backend, network && !localSockets && hasAbstractSockets())
        if (filter !== undefined) openHandles.push({ release: () => closeSync(filter) })
        const ownsOthers = worksOnForeignFiles(backend.mode, layout)
        const args = buildBubblewrapArguments(backend.mode, {
          layout: { ...layout, writable },
          guard: pathGuard,
          tmpFolder,
          scratch,
          folder,
          network,
          needsFileCapabilities: ownsOthers,
          ...(backend.features.bindsDescriptors && { toChildDescriptor }),
          ...(filter !== undefined && { filter: toChildDescriptor(filter) }),
        })
        const markStarted = (pid?: number): void => {
          pathGuard.markStarted(pid, () => pid !== undefined && killGroup({ id: pid, marker: '', isolated: true }))
          for (const one of openHandles.splice(0)) one.release()
        }
        const { program, mode: bubblewrapMode } = backend
        return {
          program,
          args,
          descriptors: childDescriptors,
          isolated,
          hasOwnProcessCount: hasOwnProcessCount(bubblewrapMode),
          markStarted,
          ...lifecycle,
        }
      } catch (error) {
        for (const one of openHandles) one.release()
        lifecycle.release()
        throw error
      }
    },

    approveWrite(path) {
      approved.add(path, allRules)
    },
    close() {
      for (const one of running) {
        one.check()
        one.release()
      }
      if (hasTemporary) removeTree(workspacePaths.scratch, 'tmp')
    },
  }
}

const SANDBOX_SWITCHED_OFF: Promise<SandboxUnavailable> = Promise.resolve({ why: 'It is switched off.' })
const WORKSPACE_IS_ROOT: Promise<SandboxUnavailable> = Promise.resolve({ why: 'The workspace is the whole disk.' })

/** The folder that is /tmp to commands, with real folders where something is to be mounted in it. */
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

/** A descriptor of the filter of system calls. */
function openSeccompFilter(
  { mode: bubblewrapMode, filters }: { mode: BubblewrapMode; filters?: SeccompFilterFiles },
  withoutLocalSockets: boolean,
): number | undefined {
  if (!bubblewrapMode.filter || !filters) return undefined
  return openSync(withoutLocalSockets ? filters.withoutLocalSockets : filters.withLocalSockets, 'r')
}

/** Does the superuser work in a folder of somebody else? Then he needs his rights over the files of others. */
function worksOnForeignFiles({ user }: BubblewrapMode, { workspace }: SandboxLayout): boolean {
  return !user && process.getuid?.() === 0 && workspace.some((folder) => statSync(folder).uid !== 0)
}

/** The rules of a folder of the workspace that lies inside another. A command may make a repository there. */
function nestedFolderRules(outer: string, folder: string, rules: readonly ProtectedPathRule[]): ProtectedPathRule[] {
  const hasGit = statNoFollow(join(folder, '.git')) !== undefined
  const bubblewrapMode = relative(outer, folder).split('/')
  return rules.flatMap((rule) => (rule[0] === '.git' && !hasGit ? [] : [[...bubblewrapMode, ...rule]]))
}
