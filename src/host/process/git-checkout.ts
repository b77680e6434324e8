import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'

interface GitCheckout {
  /** https, ssh or file; whoever calls this has decided that it may be fetched. */
  readonly url: string
  /** A branch, a tag or a commit; the default branch if absent. */
  readonly ref?: string
  readonly folder: string
  readonly signal: AbortSignal
}

/**
 * Checks a repository out into a folder, unless it is there already. Nothing of the repository runs: no hooks, no filters,
 * no submodules; and git uses no settings of this machine. The folder appears when it is complete.
 */
export async function checkOutRepository({ url, ref = 'HEAD', folder, signal }: GitCheckout): Promise<void> {
  if (existsSync(folder)) return
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  mkdirSync(partial, { mode: 0o700 })
  const protocol = new URL(url).protocol.slice(0, -1)
  const git = async (...args: string[]): Promise<void> => {
    await promisify(execFile)('git', [...SAFE_SETTINGS, ...args], {
      cwd: partial,
      signal,
      timeout: CHECKOUT_TIMEOUT_MS,
      env: createEnvironment(protocol),
    })
  }
  try {
    await git('init', '--quiet')
    await git('fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', url, ref)
    await git('checkout', '--quiet', '--detach', 'FETCH_HEAD')
    renameSync(partial, folder)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    const words = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
    throw new Error(`The workspace cannot be checked out from ${url}: ${words.split('\n')[0] || 'git failed'}`, {
      cause: error,
    })
  }
}

const CHECKOUT_TIMEOUT_MS = 600_000

const SAFE_SETTINGS = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['init.templateDir', ''],
  ['submodule.recurse', 'false'],
  ['credential.helper', ''],
  ['protocol.ext.allow', 'never'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

function createEnvironment(protocol: string): Record<string, string> {
  const { PATH = '', HOME = '', SSH_AUTH_SOCK } = process.env
  return {
    PATH,
    HOME,
    ...(SSH_AUTH_SOCK !== undefined && { SSH_AUTH_SOCK }),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  }
}

export function removeCheckout(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
}
