import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { clearAway } from './clear.ts'

/** A Postgres server of the test's own, which only this machine can reach. */
export interface PostgresServer {
  /** The folder of its socket, as the host of a connection. */
  readonly host: string
  pool(): Pool
  /** Starts it again after `stop`. */
  start(): Promise<void>
  /** Ends all connections, and the server. */
  stop(): Promise<void>
  /** Stops it, and removes its data. */
  close(): Promise<void>
}

/** The folder of the server's programs. Debian does not put them on the PATH. */
export function findPostgres(): string | undefined {
  const packaged = '/usr/lib/postgresql'
  const versions = existsSync(packaged) ? readdirSync(packaged).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(packaged, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ]
  return folders.find((folder) => ['postgres', 'initdb'].every((name) => existsSync(join(folder, name))))
}

/** The `skip` option of a test that needs a server. */
export const skipWithoutPostgres: false | string =
  findPostgres() === undefined && 'no PostgreSQL server is installed (Debian: apt-get install postgresql)'

/** `more` are settings besides those of a server whose data may be lost. */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresServer> {
  const programs = findPostgres()
  if (programs === undefined) throw new Error('no PostgreSQL server is installed')
  // The server refuses to run as root.
  const account: { uid?: number; gid?: number } = process.getuid?.() === 0 ? findAccount() : {}
  const base = mkdtempSync(join(tmpdir(), 'dragoman-pg-'))
  if (account.uid !== undefined) chownSync(base, account.uid, account.gid ?? account.uid)
  const data = join(base, 'data')
  const options = { ...account, cwd: base, encoding: 'utf8', env: { LC_ALL: 'C' } } as const
  const made = spawnSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
    options,
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  const pools: Pool[] = []
  let stop = (): Promise<void> => Promise.resolve()

  const server: PostgresServer = {
    host: base,
    pool() {
      const pool = new Pool({ host: base, user: 'test', database: 'postgres', max: 4 })
      // A connection that the server ends must not end the test.
      pool.on('error', () => undefined)
      pools.push(pool)
      return pool
    },
    async start() {
      const own = ['listen_addresses=', 'fsync=off', 'shared_buffers=16MB', `unix_socket_directories=${base}`]
      const settings = [...own, ...more]
      const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
      const child = spawn(join(programs, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] })
      let log = ''
      child.stderr.on('data', (text: Buffer) => (log += text.toString()))
      const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
      stop = () => {
        child.kill('SIGINT')
        return ended
      }
      while (!log.includes('ready to accept connections')) {
        if (child.exitCode !== null) throw new Error(`the server ended: ${log}`)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    stop: () => stop(),
    async close() {
      await Promise.all(pools.map((pool) => pool.end()))
      await stop()
      clearAway(base)
    },
  }
  await server.start()
  return server
}

/** The account that the package creates, or any other that is not root. */
function findAccount(): { uid: number; gid: number } {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const line = ['postgres', 'nobody'].map((name) => lines.find((one) => one.startsWith(`${name}:`))).find(Boolean)
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid ?? 65534), gid: Number(gid ?? 65534) }
}
