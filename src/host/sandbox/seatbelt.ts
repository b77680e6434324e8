import type { PathGuard } from './protect/path-guard.ts'
import type { SandboxLayout } from './layout.ts'

export interface SeatbeltOptions {
  readonly layout: SandboxLayout
  readonly guard: Pick<PathGuard, 'anchors' | 'fixed'>
  /** Our own writable folders. */
  readonly scratch: readonly string[]
  readonly network: boolean
}

/**
 * The sandbox-exec profile for macOS. The last matching rule decides, so narrower rules come later. macOS has no process or
 * mount namespaces; access to other processes is limited by name instead.
 */
export function createSeatbeltProfile({ layout, guard, scratch, network }: SeatbeltOptions): string {
  // Caches cannot be replaced here, so they are read-only.
  const caches = layout.privateCaches.map(({ path }) => path)
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...formatRule('allow file-write*', [...layout.writable, ...scratch].map(subpathFilter)),
    ...formatRule('allow file-write*', WRITABLE_DEVICES.map(literalFilter)),
    ...formatRule('deny file-read*', layout.hidden.map(subpathFilter)),
    // A path can be resolved only if the metadata of every folder on the way is readable.
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
    // A folder on the way must not be renamed, or another could take its place.
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

/** Services that hold keys, or start programs for any caller. */
const DENIED_MACH_SERVICES = [
  'com.apple.SecurityServer',
  'com.apple.securityd.xpc',
  'com.apple.coreservices.launchservicesd',
  'com.apple.pasteboard.1',
  'com.apple.ssh-agent',
]

/** Only loopback is open: tests start servers. */
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
