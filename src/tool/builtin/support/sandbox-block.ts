import type { CommandResult } from '../../../host/host.ts'
import { isInsideFolder } from '../../../model/inside-folder.ts'
import type { SandboxBlock } from '../../../model/security/sandbox-access.ts'

export function detectSandboxBlock(
  { sandboxed, exitCode }: Pick<CommandResult, 'sandboxed' | 'exitCode'>,
  output: string,
  folders: readonly string[],
): SandboxBlock | undefined {
  if (!sandboxed || exitCode === 0) return undefined
  if (NETWORK_ERRORS.test(output)) return 'network'
  if (READ_ONLY_ERRORS.test(output)) return 'files'
  return output.split('\n').some((row) => MISSING_ERRORS.test(row) && namesOutsidePath(row, folders))
    ? 'files'
    : undefined
}

/** Failed name lookups and connections, as resolvers, curl, git, npm, pip, cargo, Go, Java and .NET report them. */
const NETWORK_ERRORS = new RegExp(
  [
    "could ?n[o']t resolve (?:host|hostname|proxy)",
    'unable to resolve host|bad hostname|unknown host',
    'temporary failure (?:in name resolution|resolving)',
    'name or service not known',
    'nodename nor servname',
    'no address associated with hostname',
    'no such host',
    'getaddrinfo|EAI_AGAIN|ENOTFOUND',
    'network is unreachable|ENETUNREACH',
    'no route to host|EHOSTUNREACH',
    'connection refused|ECONNREFUSED',
    "could not connect to server|couldn't connect to server|failed to connect to",
    'UnknownHostException|java\\.net\\.ConnectException|java\\.net\\.SocketException',
    'NewConnectionError|Max retries exceeded with url',
    'dial (?:tcp|udp)',
    'TypeError: fetch failed',
    'Failed to open TCP connection',
    'NU1301|Unable to load the service index',
    'spurious network error|failed to (?:fetch|download) .*(?:registry|index|crates)',
  ].join('|'),
  'i',
)

const READ_ONLY_ERRORS = /read-only file system|EROFS|device or resource busy|EBUSY/i

/** For paths in the workspace these mean what they say; for others, that the sandbox hides the path. */
const MISSING_ERRORS = /no such file or directory|ENOENT|permission denied|EACCES|operation not permitted|EPERM/i

function namesOutsidePath(row: string, folders: readonly string[]): boolean {
  const paths = row.match(/(?<![\w.~:/-])\/[^\s:'"`),;]+/g) ?? []
  return paths.some((path) => [...folders, ...VISIBLE_SYSTEM_FOLDERS].every((folder) => !isInsideFolder(path, folder)))
}

/** Visible in the sandbox, although outside of the workspace: what is missing there is missing everywhere. */
const VISIBLE_SYSTEM_FOLDERS = ['/dev', '/proc', '/usr', '/bin', '/lib', '/etc']
