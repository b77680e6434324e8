import type { PathGuard } from './protect/path-guard.ts'
import type { SandboxLayout } from './layout.ts'

/** What a profile is made of. */
export interface SeatbeltOptions {
  readonly layout: SandboxLayout
  readonly guard: Pick<PathGuard, 'anchors' | 'fixed'>
  /** Folders of ours to write in. */
  readonly scratch: readonly string[]
  readonly network: boolean
}

/**
 * The profile for sandbox-exec on macOS. The last rule that fits decides, so what is narrower stands further down. Nobody
 * has a process or mount namespace there; what commands may do to other processes is limited by name instead.
 */
export function createSeatbeltProfile({ layout, guard, scratch, network }: SeatbeltOptions): string {
  // Nothing can be put in the place of a cache here, so it is only read.
  const caches = layout.privateCaches.map(({ path }) => path)
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...formatRule('allow file-write*', [...layout.writable, ...scratch].map(subpathFilter)),
    ...formatRule('allow file-write*', WRITABLE_DEVICES.map(literalFilter)),
    ...formatRule('deny file-read*', layout.hidden.map(subpathFilter)),
    // A path can only be followed if each folder on the way says that it is there.
    ...formatRule('allow file-read-metadata', layout.hidden.map(subpathFilter)),
    ...formatRule('allow file-read*', [...layout.shown, ...caches, ...layout.writable, ...scratch].map(subpathFilter)),
    ...formatRule(
      'deny file-read* file-write*',
      layout.masked.map(({ path }) => subpathFilter(path)),
    ),
    ...formatRule(
      'deny file-write*',
      guard.fixed.map(({ path }) => subpathFilter(path)),
    ),
    // A folder on the way must not be renamed either, or another could take its place.
    ...formatRule(
      'deny file-write-unlink',
      [...layout.writable, ...guard.anchors.map(({ path }) => path)].map(literalFilter),
    ),
    '(deny appleevent-send)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    ...formatRule(
      'deny mach-lookup',
      DENIED_MACH_SERVICES.map((name) => `(global-name ${quoteString(name)})`),
    ),
    ...(network ? [] : LOOPBACK_ONLY_RULES),
    '',
  ].join('\n')
}

const WRITABLE_DEVICES = ['/dev/null', '/dev/zero', '/dev/stdout', '/dev/stderr', '/dev/tty', '/dev/dtracehelper']

/** Services that hold keys, or that start programs for whoever asks. */
const DENIED_MACH_SERVICES = [
  'com.apple.SecurityServer',
  'com.apple.securityd.xpc',
  'com.apple.coreservices.launchservicesd',
  'com.apple.pasteboard.1',
  'com.apple.ssh-agent',
]

/** Only this machine's own loopback is open: tests start servers. */
const LOOPBACK_ONLY_RULES = [
  '(deny network*)',
  '(allow network-bind (local ip "localhost:*"))',
  '(allow network-inbound (local ip "localhost:*"))',
  '(allow network-outbound (remote ip "localhost:*"))',
]

function formatRule(action: string, filters: readonly string[]): string[] {
  return filters.length === 0 ? [] : [`(${action}\n  ${filters.join('\n  ')})`]
}

function subpathFilter(path: string): string {
  return `(subpath ${quoteString(path)})`
}

function literalFilter(path: string): string {
  return `(literal ${quoteString(path)})`
}

function quoteString(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
