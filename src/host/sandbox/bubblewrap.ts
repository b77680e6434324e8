import { existsSync } from 'node:fs'
import { release } from 'node:os'
import type { PathGuard, MountSource } from './protect/path-guard.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import type { SandboxLayout } from './layout.ts'

/** How bubblewrap works on this machine; found by trying. */
export interface BubblewrapMode {
  /** Uses a user namespace. Root can do without, and then may write files of others, as always. */
  readonly user: boolean
  /** Has its own process table. Containers often do not permit to mount one; then the old one is visible, read-only. */
  readonly proc: boolean
  readonly filter: boolean
}

/** Best first. */
export function listBubblewrapModes(isRoot: boolean, canFilter: boolean): BubblewrapMode[] {
  const users = isRoot ? [false, true] : [true]
  const filters = canFilter ? [true, false] : [false]
  return filters.flatMap((filter) => users.flatMap((user) => [true, false].map((proc) => ({ user, proc, filter }))))
}

/** Are the processes of a sandbox counted apart? Linux does so for user namespaces since 5.14, and never for root. */
export function hasOwnProcessCount({ user }: BubblewrapMode): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return user && process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14))
}

interface BubblewrapOptions {
  readonly layout: Omit<SandboxLayout, 'writable'> & { readonly writable: readonly MountSource[] }
  readonly guard: Pick<PathGuard, 'anchors' | 'fixed'>
  /** Mounted as /tmp. */
  readonly tmpFolder: string
  /** Our folder with the output of commands, readable even inside hidden folders. */
  readonly scratch: string
  readonly folder: string
  readonly network: boolean
  /** Root's rights over files of others; only needed if the workspace belongs to somebody else. */
  readonly needsFileCapabilities: boolean
  /** The number of our descriptor in the command; without it paths are mounted by name. */
  readonly toChildDescriptor?: (descriptor: number) => number
  /** The descriptor with the system call filter. */
  readonly filter?: number
}

/** Later mounts cover earlier ones. */
export function buildBubblewrapArguments(mode: BubblewrapMode, options: BubblewrapOptions): string[] {
  const { layout, guard, tmpFolder, scratch, folder, network, toChildDescriptor } = options
  const bindArguments = (flag: '--bind' | '--ro-bind', sources: readonly MountSource[]): string[] =>
    sources.flatMap(({ path, descriptor }) =>
      toChildDescriptor && descriptor !== undefined
        ? [`${flag}-fd`, String(toChildDescriptor(descriptor)), path]
        : [flag, path, path],
    )
  return [
    ...namespaceArguments(mode, network, options.needsFileCapabilities),
    ...rootMountArguments(mode),
    ...mountArguments('--bind', tmpFolder, '/tmp'),
    ...listTopMounts('/tmp', options).flatMap((path) => ['--tmpfs', path]),
    ...mountArguments('--tmpfs', '/var/tmp', '--tmpfs', '/run'),
    ...bindArguments('--ro-bind', VISIBLE_RUN_PATHS.filter(existsSync).map(toMountSource)),
    ...layout.hidden.flatMap((path) => ['--tmpfs', path]),
    ...bindArguments('--ro-bind', layout.shown.map(toMountSource)),
    ...layout.privateCaches.flatMap(({ path, source }) => ['--bind', source, path]),
    ...bindArguments('--bind', layout.writable),
    ...bindArguments('--bind', guard.anchors),
    ...bindArguments('--ro-bind', guard.fixed),
    ...layout.masked.flatMap(({ path, isFolder }) => (isFolder ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    ...mountArguments('--ro-bind', scratch, scratch, '--chdir', folder, '--setenv', 'TMPDIR', '/tmp'),
    ...(options.filter === undefined ? [] : ['--seccomp', String(options.filter)]),
    '--',
  ]
}

const mountArguments = (...words: string[]): string[] => words

const toMountSource = (path: string): MountSource => ({ path })

type MountedPaths = Pick<BubblewrapOptions, 'scratch'> & {
  readonly layout: Pick<SandboxLayout, 'shown' | 'masked'> & { readonly writable: readonly (string | MountSource)[] }
}

/**
 * The first path segments below a folder of everything mounted there. They are mounts themselves, so that no command can
 * replace one by a link, which bubblewrap would follow when it sets up the next sandbox.
 */
export function listTopMounts(folder: string, { layout, scratch }: MountedPaths): string[] {
  const writable = layout.writable.map((one) => (typeof one === 'string' ? one : one.path))
  const mounted = [...layout.shown, ...writable, ...layout.masked.map(({ path }) => path), scratch]
  const inside = mounted.filter((path) => path !== folder && isInsideFolder(path, folder))
  return [...new Set(inside.map((path) => path.split('/').slice(0, 3).join('/')))]
}

/** The smallest sandbox, to find out whether there can be one. */
export function buildTrialArguments(mode: BubblewrapMode, filter: number): string[] {
  const more = mode.filter ? ['--seccomp', String(filter)] : []
  return [...namespaceArguments(mode, false, true), ...rootMountArguments(mode), '--tmpfs', '/tmp', ...more, '--']
}

function namespaceArguments({ user }: BubblewrapMode, network: boolean, needsFileCapabilities: boolean): string[] {
  return [
    ...(user ? ['--unshare-user'] : []),
    ...'--unshare-pid --unshare-ipc'.split(' '),
    ...(network ? [] : ['--unshare-net']),
    ...'--die-with-parent --cap-drop ALL'.split(' '),
    // Root may change files of others in the workspace; the mounts decide about everything else.
    ...(user || !needsFileCapabilities ? [] : FILE_CAPABILITIES.flatMap((name) => ['--cap-add', name])),
  ]
}

const FILE_CAPABILITIES = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_FSETID']

/** System settings in /proc belong to root in any namespace, so /proc is read-only. */
function rootMountArguments({ proc }: BubblewrapMode): string[] {
  return ['--ro-bind', '/', '/', '--dev', '/dev', ...(proc ? ['--proc', '/proc', '--remount-ro', '/proc'] : [])]
}

/** /run is full of sockets of other programs (Docker, keyrings). These paths are not. */
const VISIBLE_RUN_PATHS = ['current-system', 'systemd/resolve', 'resolvconf', 'NetworkManager/resolv.conf'].map(
  (name) => `/run/${name}`,
)
