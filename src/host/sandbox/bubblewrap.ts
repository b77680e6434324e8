import { existsSync } from 'node:fs'
import { release } from 'node:os'
import type { Guard, Source } from './guard.ts'
import { isBelow } from './below.ts'
import type { Layout } from './layout.ts'

/** How bubblewrap can be used on a machine; what works is found by trying. */
export interface Way {
  /** A user namespace. The superuser can do without, and then may write what belongs to others, as always. */
  readonly user: boolean
  /** A process table of its own. Containers often do not let it be mounted; then the old one stays, only to be read. */
  readonly proc: boolean
  /** A filter of system calls. */
  readonly filter: boolean
}

/** What there is to try, the best first. */
export function ways(isRoot: boolean, canFilter: boolean): Way[] {
  const users = isRoot ? [false, true] : [true]
  const filters = canFilter ? [true, false] : [false]
  return filters.flatMap((filter) => users.flatMap((user) => [true, false].map((proc) => ({ user, proc, filter }))))
}

/** Are the processes of a box counted apart? Linux does so for user namespaces since 5.14, and never for the superuser. */
export function countsApart({ user }: Way): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return user && process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14))
}

/** What a box is made of. */
export interface Box {
  readonly layout: Omit<Layout, 'writable'> & { readonly writable: readonly Source[] }
  readonly guard: Pick<Guard, 'anchors' | 'fixed'>
  /** Shown as /tmp. */
  readonly temporary: string
  /** A folder of ours with what commands printed, to be read even inside of what is hidden. */
  readonly scratch: string
  /** Where the command begins. */
  readonly folder: string
  readonly network: boolean
  /** The superuser's rights over files of others; only needed where the workspace belongs to somebody else. */
  readonly ownsOthers: boolean
  /** Gives the number that a descriptor of ours has in the command; without it paths are mounted by name. */
  readonly numberOf?: (descriptor: number) => number
  /** The number of the descriptor that holds the filter of system calls. */
  readonly filter?: number
}

/** The arguments for bubblewrap before the command itself. What comes later covers what came before. */
export function bubblewrapArguments(way: Way, box: Box): string[] {
  const { layout, guard, temporary, scratch, folder, network, numberOf } = box
  const same = (how: '--bind' | '--ro-bind', sources: readonly Source[]): string[] =>
    sources.flatMap(({ path, descriptor }) =>
      numberOf && descriptor !== undefined ? [`${how}-fd`, String(numberOf(descriptor)), path] : [how, path, path],
    )
  return [
    ...namespaces(way, network, box.ownsOthers),
    ...onDisk(way),
    ...mount('--bind', temporary, '/tmp'),
    ...topsIn('/tmp', box).flatMap((path) => ['--tmpfs', path]),
    ...mount('--tmpfs', '/var/tmp'),
    ...mount('--tmpfs', '/run'),
    ...same('--ro-bind', KEPT_OF_RUN.filter(existsSync).map(named)),
    ...layout.hidden.flatMap((path) => ['--tmpfs', path]),
    ...same('--ro-bind', layout.shown.map(named)),
    ...layout.privateCaches.flatMap(({ path, source }) => ['--bind', source, path]),
    ...same('--bind', layout.writable),
    ...same('--bind', guard.anchors),
    ...same('--ro-bind', guard.fixed),
    ...layout.masked.flatMap(({ path, isFolder }) => (isFolder ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path])),
    ...mount('--ro-bind', scratch, scratch),
    '--chdir',
    folder,
    '--setenv',
    'TMPDIR',
    '/tmp',
    ...(box.filter === undefined ? [] : ['--seccomp', String(box.filter)]),
    '--',
  ]
}

function mount(...words: string[]): string[] {
  return words
}

function named(path: string): Source {
  return { path }
}

interface Placed {
  readonly layout: Pick<Layout, 'shown' | 'masked'> & { readonly writable: readonly (string | Source)[] }
  readonly scratch: string
}

/**
 * The first steps below a folder of what is mounted in there. They are mounts themselves, so that no command can put a link in
 * the place of one: bubblewrap would follow it when it sets up the next box.
 */
export function topsIn(folder: string, { layout, scratch }: Placed): string[] {
  const writable = layout.writable.map((one) => (typeof one === 'string' ? one : one.path))
  const mounted = [...layout.shown, ...writable, ...layout.masked.map(({ path }) => path), scratch]
  const inside = mounted.filter((path) => path !== folder && isBelow(path, folder))
  return [...new Set(inside.map((path) => path.split('/').slice(0, 3).join('/')))]
}

/** The smallest box, to see whether there can be one. */
export function trialArguments(way: Way, filter: number): string[] {
  const more = way.filter ? ['--seccomp', String(filter)] : []
  return [...namespaces(way, false, true), ...onDisk(way), '--tmpfs', '/tmp', ...more, '--']
}

function namespaces({ user }: Way, network: boolean, ownsOthers: boolean): string[] {
  return [
    ...(user ? ['--unshare-user'] : []),
    '--unshare-pid',
    '--unshare-ipc',
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    // Files of others in the workspace are the superuser's to change; mounts decide what else is.
    ...(user || !ownsOthers ? [] : OWNERS_RIGHTS.flatMap((name) => ['--cap-add', name])),
  ]
}

const OWNERS_RIGHTS = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_FSETID']

/** Settings of the system in /proc belong to the superuser, in whatever namespace; so nothing there is written by anybody. */
function onDisk({ proc }: Way): string[] {
  return ['--ro-bind', '/', '/', '--dev', '/dev', ...(proc ? ['--proc', '/proc', '--remount-ro', '/proc'] : [])]
}

/** /run is full of doors to other programs (Docker's, the keyring's). These are not. */
const KEPT_OF_RUN = [
  '/run/current-system',
  '/run/systemd/resolve',
  '/run/resolvconf',
  '/run/NetworkManager/resolv.conf',
]
