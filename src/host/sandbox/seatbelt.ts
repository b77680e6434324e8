import type { PathGuard } from './protect/path-guard.ts'
import type { SandboxLayout } from './layout.ts'

interface SeatbeltOptions {
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
  const caches = layout.privateCaches.map(getPath)
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...formatRule('allow file-write*', 'subpath', [...layout.writable, ...scratch]),
    ...formatRule('allow file-write*', 'literal', WRITABLE_DEVICES),
    ...formatRule('deny file-read*', 'subpath', layout.hidden),
    // A path can be resolved only if the metadata of every folder on the way is readable.
    ...formatRule('allow file-read-metadata', 'subpath', layout.hidden),
    ...formatRule('allow file-read*', 'subpath', [...layout.shown, ...caches, ...layout.writable, ...scratch]),
    ...formatRule('deny file-read* file-write*', 'subpath', layout.masked.map(getPath)),
    ...formatRule('deny file-write*', 'subpath', guard.fixed.map(getPath)),
    // A folder on the way must not be renamed, or another could take its place.
    ...formatRule('deny file-write-unlink', 'literal', [...layout.writable, ...guard.anchors.map(getPath)]),
    '(deny appleevent-send)',
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    ...formatRule('deny mach-lookup', 'global-name', DENIED_MACH_SERVICES),
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

function formatRule(action: string, filter: 'subpath' | 'literal' | 'global-name', names: readonly string[]): string[] {
  const filters = names.map((name) => `(${filter} "${name.replace(/["\\]/g, '\\$&')}")`)
  return filters.length === 0 ? [] : [`(${action}\n  ${filters.join('\n  ')})`]
}

const getPath = ({ path }: { readonly path: string }) => path
