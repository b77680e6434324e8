import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Client } from './client.ts'
import { startRefusingProxy } from './refusing-proxy.ts'

/** An empty home and workspace for one run of a client, from which it reaches nothing but loopback. */
export async function createClientHome(client: Client) {
  const place = mkdtempSync(join(realpathSync(tmpdir()), 'dragoman-client-'))
  const [home, workspace] = [join(place, 'home'), join(place, 'work')]
  for (const folder of [home, workspace]) mkdirSync(folder)
  const proxy = await startRefusingProxy()
  const writeFile = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  for (const [path, text] of Object.entries(client.quietFiles ?? {})) writeFile(path, text)
  return {
    home,
    workspace,
    env: { ...createEnvironment(home, proxy.url), ...client.quietEnv } as Record<string, string>,
    refusedHosts: proxy.refusedHosts,
    /** Writes a file of the home folder. */
    writeFile,
    remove(): void {
      proxy.close()
      rmSync(place, { recursive: true, force: true, maxRetries: 3 })
    },
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
