import { existsSync } from 'node:fs'
import { release } from 'node:os'
import type { PathGuard, MountSource } from './protect/path-guard.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import type { SandboxLayout } from './layout.ts'

/** How bubblewrap can be used on a machine; what works is found by trying. */
export interface BubblewrapMode {
  /** A user namespace. The superuser can do without, and then may write what belongs to others, as always. */
  readonly user: boolean
  /** A process table of its own. Containers often do not let it be mounted; then the old one stays, only to be read. */
  readonly proc: boolean
  /** A filter of system calls. */
  readonly filter: boolean
}

/** What there is to try, the best first. */
export function listBubblewrapModes(isRoot: boolean, canFilter: boolean): BubblewrapMode[] {
  const users = isRoot ? [false, true] : [true]
  const filters = canFilter ? [true, false] : [false]
  return filters.flatMap((filter) => users.flatMap((user) => [true, false].map((proc) => ({ user, proc, filter }))))
}

/** Are the processes of a box counted apart? Linux does so for user namespaces since 5.14, and never for the superuser. */
export function hasOwnProcessCount({ user }: BubblewrapMode): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return user && process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14))
}

/** What a box is made of. */
export interface BubblewrapOptions {
  readonly layout: Omit<SandboxLayout, 'writable'> & { readonly writable: readonly MountSource[] }
  readonly guard: Pick<PathGuard, 'anchors' | 'fixed'>
  /** Shown as /tmp. */
  readonly tmpFolder: string
  /** A folder of ours with what commands printed, to be read even inside of what is hidden. */
  readonly scratch: string
  /** Where the command begins. */
  readonly folder: string
  readonly network: boolean
  /** The superuser's rights over files of others; only needed where the workspace belongs to somebody else. */
  readonly needsFileCapabilities: boolean
  /** Gives the number that a descriptor of ours has in the command; without it paths are mounted by name. */
  readonly toChildDescriptor?: (descriptor: number) => number
  /** The number of the descriptor that holds the filter of system calls. */
  readonly filter?: number
}

/** The arguments for bubblewrap before the command itself. What comes later covers what came before. */
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
    ...mountArguments('--tmpfs', '/var/tmp'),
    ...mountArguments('--tmpfs', '/run'),
    ...bindArguments('--ro-bind', VISIBLE_RUN_PATHS.filter(existsSync).map(toMountSource)),
    ...layout.hidden.flatMap((path) => ['--tmpfs', path]),
    ...bindArguments('--ro-bind', layout.shown.map(toMountSource)),
    ...layout.privateCaches.flatMap(({ path, source }) => ['--bind', source, path]),
    ...bindArguments('--bind', layout.writable),
    ...bindArguments('--bind', guard.anchors),
    ...bindArguments('--ro-bind', guard.fixed),
    ...layout.masked.flatMap(({ path, isFolder }) => (isFolder ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    ...mountArguments('--ro-bind', scratch, scratch),
    '--chdir',
    folder,
    '--setenv',
    'TMPDIR',
    '/tmp',
    ...(options.filter === undefined ? [] : ['--seccomp', String(options.filter)]),
    '--',
  ]
}

function mountArguments(...words: string[]): string[] {
  return words
}

function toMountSource(path: string): MountSource {
  return { path }
}

interface MountedPaths {
  readonly layout: Pick<SandboxLayout, 'shown' | 'masked'> & { readonly writable: readonly (string | MountSource)[] }
  readonly scratch: string
}

/**
 * The first steps below a folder of what is mounted in there. They are mounts themselves, so that no command can put a link in
 * the place of one: bubblewrap would follow it when it sets up the next box.
 */
export function listTopMounts(folder: string, { layout, scratch }: MountedPaths): string[] {
  const writable = layout.writable.map((one) => (typeof one === 'string' ? one : one.path))
  const mounted = [...layout.shown, ...writable, ...layout.masked.map(({ path }) => path), scratch]
  const inside = mounted.filter((path) => path !== folder && isInsideFolder(path, folder))
  return [...new Set(inside.map((path) => path.split('/').slice(0, 3).join('/')))]
}

/** The smallest box, to see whether there can be one. */
export function buildTrialArguments(mode: BubblewrapMode, filter: number): string[] {
  const more = mode.filter ? ['--seccomp', String(filter)] : []
  return [...namespaceArguments(mode, false, true), ...rootMountArguments(mode), '--tmpfs', '/tmp', ...more, '--']
}

function namespaceArguments({ user }: BubblewrapMode, network: boolean, needsFileCapabilities: boolean): string[] {
  return [
    ...(user ? ['--unshare-user'] : []),
    '--unshare-pid',
    '--unshare-ipc',
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    // Files of others in the workspace are the superuser's to change; mounts decide what else is.
    ...(user || !needsFileCapabilities ? [] : FILE_CAPABILITIES.flatMap((name) => ['--cap-add', name])),
  ]
}

const FILE_CAPABILITIES = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_FSETID']

/** Settings of the system in /proc belong to the superuser, in whatever namespace; so nothing there is written by anybody. */
function rootMountArguments({ proc }: BubblewrapMode): string[] {
  return ['--ro-bind', '/', '/', '--dev', '/dev', ...(proc ? ['--proc', '/proc', '--remount-ro', '/proc'] : [])]
}

/** /run is full of doors to other programs (Docker's, the keyring's). These are not. */
const VISIBLE_RUN_PATHS = [
  '/run/current-system',
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
]
