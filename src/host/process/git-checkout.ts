import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../../model/defined.ts'
import type { SandboxState } from '../sandbox/sandbox.ts'
import type { StdioProcesses } from './stdio-process.ts'

interface GitCheckout {
  /** https, ssh or file; whoever calls this has decided that it may be fetched. */
  readonly url: string
  /** A branch, a tag or a commit; the default branch if absent. */
  readonly ref?: string
  /** Where the files go. It must not exist; it appears when it is complete. */
  readonly folder: string
  readonly host: CheckoutHost
  readonly signal: AbortSignal
}

/** A host that was made for the checkout only. */
interface CheckoutHost {
  readonly stdioProcesses: StdioProcesses
  sandbox(): Promise<SandboxState>
  /** Its working folder. It stays empty. */
  readonly folder: string
  /** On the same disk as the files. In bubblewrap, `tmp` in it is /tmp. */
  readonly scratch: string
}

/**
 * Checks a repository out. Nothing of the repository runs: no hooks, no filters, no submodules; git uses no settings of this
 * machine, and follows no redirects. It runs in the sandbox, where it sees no other workspace, and has the network only to fetch.
 * Only what ssh fetches is fetched outside: it needs the keys of the user.
 */
export async function checkOutRepository({ url, ref = 'HEAD', folder, host, signal }: GitCheckout): Promise<void> {
  const { protocol } = new URL(url)
  const name = `checkout-${randomBytes(8).toString('hex')}`
  const path = join(host.scratch, 'tmp', name)
  const state = await host.sandbox()
  const pathInSandbox = state.isActive && state.kind === 'bubblewrap' ? `/tmp/${name}` : path
  const isOutside = protocol === 'ssh:'
  const git = (args: readonly string[], { network = false, trusted = false } = {}): Promise<void> =>
    runGit(['-C', trusted ? path : pathInSandbox, ...args], { host, protocol, network, trusted, signal })
  mkdirSync(path, { recursive: true, mode: 0o700 })
  try {
    await git(['init', '--quiet'])
    const fetch = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules']
    // As a path, a repository of this machine can be shown to the sandbox.
    const source = protocol === 'file:' ? fileURLToPath(url) : url
    await git([...fetch, '--', source, ref], { network: protocol !== 'file:', trusted: isOutside })
    await git(['checkout', '--quiet', '--detach', 'FETCH_HEAD'])
    renameSync(path, folder)
  } catch (error) {
    if (error instanceof GitError)
      throw new Error(`The workspace cannot be checked out from ${url}: ${error.message}`, { cause: error })
    throw error
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
}

class GitError extends Error {
  override readonly name = 'GitError'
}

interface GitOptions {
  readonly host: CheckoutHost
  readonly protocol: string
  readonly network: boolean
  readonly trusted: boolean
  readonly signal: AbortSignal
}

/** Rejects with the first line of what git prints, if it fails. */
async function runGit(args: readonly string[], options: GitOptions): Promise<void> {
  const { host, network, trusted } = options
  const stop = AbortSignal.any([options.signal, AbortSignal.timeout(CHECKOUT_TIMEOUT_MS)])
  stop.throwIfAborted()
  const program = {
    command: 'git',
    args: [...SAFE_SETTINGS, ...args],
    folder: host.folder,
    env: createEnvironment(options.protocol, trusted),
    network,
    trusted,
  }
  let onExit: (code: number | null) => void = () => undefined
  const exited = new Promise<number | null>((resolve) => void (onExit = resolve))
  const process = await host.stdioProcesses.open(program, {
    onOutput: () => undefined,
    onExit: (_reason, code) => onExit(code),
  })
  const onStop = (): void => void process.close()
  stop.addEventListener('abort', onStop, { once: true })
  if (stop.aborted) onStop()
  const code = await exited
  stop.removeEventListener('abort', onStop)
  stop.throwIfAborted()
  if (code !== 0) throw new GitError(process.recentStderr().split('\n')[0]?.slice(0, MAX_MESSAGE_CHARS) || 'git failed')
}

const CHECKOUT_TIMEOUT_MS = 600_000
const MAX_MESSAGE_CHARS = 500

const SAFE_SETTINGS = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', '/dev/null'],
  ['init.templateDir', ''],
  ['submodule.recurse', 'false'],
  ['credential.helper', ''],
  // A repository that may be fetched must not lead to an address that may not.
  ['http.followRedirects', 'false'],
  // A server that sends almost nothing must not hold a worker.
  ['http.lowSpeedLimit', '1000'],
  ['http.lowSpeedTime', '60'],
  ['protocol.ext.allow', 'never'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Only one protocol, no settings of this machine, and no question. */
function createEnvironment(protocol: string, trusted: boolean): Record<string, string> {
  const { SSH_AUTH_SOCK, HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy } = process.env
  return {
    ...defined({ HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy, ...(trusted && { SSH_AUTH_SOCK }) }),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: protocol.slice(0, -1),
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes -oPermitLocalCommand=no -oForwardAgent=no',
  }
}
