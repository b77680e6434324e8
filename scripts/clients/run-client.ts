import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type CapturedRequest, startCaptureServer } from './capture-server.ts'
import type { Client, ClientModel } from './client.ts'
import type { InstalledClient } from './install-client.ts'

export interface ClientRun {
  readonly requests: readonly CapturedRequest[]
  readonly refusedHosts: readonly string[]
  /** Null if it had to be ended. */
  readonly exitCode: number | null
  readonly output: string
}

/** The scratch folders of a run. */
export interface ClientFolders {
  readonly home: string
  readonly workspace: string
}

/** What the file says that the client is asked about. */
export const SECRET = 'heron'

/**
 * Runs a client in an empty home and a scratch workspace, through one call of its own tool. `inspect` gets both folders
 * before they are removed.
 */
export async function runClient(
  client: Client,
  model: ClientModel,
  installed: InstalledClient,
  inspect?: (folders: ClientFolders) => Promise<void>,
): Promise<ClientRun> {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-client-'))
  const [home, workspace] = [join(place, 'home'), join(place, 'work')]
  for (const folder of [home, workspace]) mkdirSync(folder)
  writeFileSync(join(workspace, 'a.txt'), `The secret word is ${SECRET}.\n`)
  const server = await startCaptureServer(model.readFile, { say: 'I have read it.' }, workspace)
  try {
    const setup = model.setUp({ url: server.url, key: 'sk-dummy', model: model.model })
    for (const [path, text] of Object.entries(setup.files ?? {})) {
      mkdirSync(dirname(join(home, path)), { recursive: true })
      writeFileSync(join(home, path), text)
    }
    const [program, ...args] = installed.command
    const env = { ...createEnvironment(home, server.url), ...client.quietEnv, ...setup.env }
    const all = [...args, ...setup.args, ...client.runPrompt('What is the secret word in a.txt?')]
    const end = await waitForEnd(program, all, { cwd: workspace, env })
    await inspect?.({ home, workspace })
    return { ...end, requests: server.requests, refusedHosts: [...server.refusedHosts] }
  } finally {
    server.close()
    rmSync(place, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Nothing of the user's environment but the path. All hosts other than this one are behind a proxy that refuses them. */
function createEnvironment(home: string, proxy: string): Record<string, string> {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    TERM: 'dumb',
    NO_COLOR: '1',
    NO_PROXY: '127.0.0.1,localhost',
    no_proxy: '127.0.0.1,localhost',
    ...Object.fromEntries(proxies.map((name) => [name, proxy])),
  }
}

function waitForEnd(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<Pick<ClientRun, 'exitCode' | 'output'>> {
  return new Promise((done, failed) => {
    // A process group of its own, so that nothing that the client has started is left.
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    const endGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
    const timer = setTimeout(endGroup, TIMEOUT_MS)
    child.on('error', failed)
    child.on('exit', endGroup)
    child.on('close', (exitCode) => {
      clearTimeout(timer)
      done({ exitCode, output })
    })
  })
}

const TIMEOUT_MS = 120_000
