import type { Guard } from './guard.ts'
import type { Layout } from './layout.ts'

/** What a profile is made of. */
export interface SeatbeltBox {
  readonly layout: Layout
  readonly guard: Pick<Guard, 'anchors' | 'fixed'>
  /** Folders of ours to write in. */
  readonly scratch: readonly string[]
  readonly network: boolean
}

/**
 * The profile for sandbox-exec on macOS. The last rule that fits decides, so what is narrower stands further down. Nobody
 * has a process or mount namespace there; what commands may do to other processes is limited by name instead.
 */
export function seatbeltProfile({ layout, guard, scratch, network }: SeatbeltBox): string {
  // Nothing can be put in the place of a cache here, so it is only read.
  const caches = layout.privateCaches.map(({ path }) => path)
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...rule('allow file-write*', [...layout.writable, ...scratch].map(below)),
    ...rule('allow file-write*', DEVICES.map(exactly)),
    ...rule('deny file-read*', layout.hidden.map(below)),
    // A path can only be followed if each folder on the way says that it is there.
    ...rule('allow file-read-metadata', layout.hidden.map(below)),
    ...rule('allow file-read*', [...layout.shown, ...caches, ...layout.writable, ...scratch].map(below)),
    ...rule(
      'deny file-read* file-write*',
      layout.masked.map(({ path }) => below(path)),
    ),
    ...rule(
      'deny file-write*',
      guard.fixed.map(({ path }) => below(path)),
    ),
    // A folder on the way must not be renamed either, or another could take its place.
    ...rule('deny file-write-unlink', [...layout.writable, ...guard.anchors.map(({ path }) => path)].map(exactly)),
    '(deny appleevent-send)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    ...rule(
      'deny mach-lookup',
      DOORS.map((name) => `(global-name ${quoted(name)})`),
    ),
    ...(network ? [] : CLOSED_NETWORK),
    '',
  ].join('\n')
}

const DEVICES = ['/dev/null', '/dev/zero', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/dtracehelper']

/** Services that hold keys, or that start programs for whoever asks. */
const DOORS = [
  'com.apple.SecurityServer',
  'com.apple.securityd.xpc',
  'com.apple.coreservices.launchservicesd',
  'com.apple.pasteboard.1',
  'com.apple.ssh-agent',
]

/** Only this machine's own loopback is open: tests start servers. */
const CLOSED_NETWORK = [
  '(deny network*)',
  '(allow network-bind (local ip "localhost:*"))',
  '(allow network-inbound (local ip "localhost:*"))',
  '(allow network-outbound (remote ip "localhost:*"))',
]

function rule(what: string, places: readonly string[]): string[] {
  return places.length === 0 ? [] : [`(${what}\n  ${places.join('\n  ')})`]
}

function below(path: string): string {
  return `(subpath ${quoted(path)})`
}

function exactly(path: string): string {
  return `(literal ${quoted(path)})`
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
