import { existsSync } from 'node:fs'
import { release } from 'node:os'
import type { Guard } from './guard.ts'
import type { Layout } from './layout.ts'

/** How bubblewrap can be used on a machine; what works is found by trying. */
export interface Way {
  /** A user namespace. The superuser can do without, and then may write what belongs to others, as always. */
  readonly user: boolean
  /** A process table of its own. Containers often do not let it be mounted; then the old one stays, only to be read. */
  readonly proc: boolean
}

/** What there is to try, the best first. */
export function ways(isRoot: boolean): Way[] {
  return [...(isRoot ? [false] : []), true].flatMap((user) => [true, false].map((proc) => ({ user, proc })))
}

/** Are the processes of a box counted apart? Linux does so for user namespaces since 5.14, and never for the superuser. */
export function countsApart({ user }: Way): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return user && process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14))
}

/** What a box is made of. */
export interface Box {
  readonly layout: Layout
  readonly guard: Pick<Guard, 'anchors' | 'fixed'>
  /** Shown as /tmp. */
  readonly temporary: string
  /** A folder of ours to write in, even inside of what is hidden. */
  readonly scratch: string
  /** Where the command begins. */
  readonly folder: string
  readonly network: boolean
}

/** The arguments for bubblewrap before the command itself. What comes later covers what came before. */
export function bubblewrapArguments(way: Way, { layout, guard, temporary, scratch, folder, network }: Box): string[] {
  return [
    ...namespaces(way, network),
    ...onDisk(way),
    ...mount('--bind', temporary, '/tmp'),
    ...mount('--tmpfs', '/var/tmp'),
    ...mount('--tmpfs', '/run'),
    ...same('--ro-bind', KEPT_OF_RUN.filter(existsSync)),
    ...layout.hidden.flatMap((path) => mount('--tmpfs', path)),
    ...same('--ro-bind', layout.shown),
    ...same('--bind', layout.writable),
    ...same('--bind', guard.anchors),
    ...same('--ro-bind', guard.fixed),
    ...layout.masked.flatMap(({ path, isFolder }) =>
      isFolder ? mount('--tmpfs', path) : mount('--ro-bind', '/dev/null', path),
    ),
    ...same('--bind', [scratch]),
    '--chdir',
    folder,
    '--setenv',
    'TMPDIR',
    '/tmp',
    '--',
  ]
}

function mount(...words: string[]): string[] {
  return words
}

/** Mounts paths where they are. */
function same(how: '--bind' | '--ro-bind', paths: readonly string[]): string[] {
  return paths.flatMap((path) => [how, path, path])
}

/** The smallest box, to see whether there can be one. */
export function trialArguments(way: Way): string[] {
  return [...namespaces(way, false), ...onDisk(way), '--tmpfs', '/tmp', '--']
}

function namespaces({ user }: Way, network: boolean): string[] {
  return [
    ...(user ? ['--unshare-user'] : []),
    '--unshare-pid',
    '--unshare-ipc',
    ...(network ? [] : ['--unshare-net']),
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    // Files of others in the workspace are the superuser's to change; mounts decide what else is.
    ...(user ? [] : OWNERS_RIGHTS.flatMap((name) => ['--cap-add', name])),
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
