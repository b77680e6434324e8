import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Client } from './client.ts'

export interface InstalledClient {
  readonly version: string
  /** The program and the arguments before its own. */
  readonly command: readonly [program: string, ...args: string[]]
}

/** Installs a client from npm into its own folder of the cache. No install scripts are run: they fetch from other hosts. */
export async function installClient(client: Client, cache: string): Promise<InstalledClient> {
  const folder = join(cache, client.id)
  const name = client.package.replace('{target}', TARGET)
  await installFirst(folder, name, client.versions ?? ['latest'])
  const packageFolder = join(folder, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
  const program = join(packageFolder, client.program)
  return { version, command: client.node === undefined ? [program] : [await findNode(client.node, cache), program] }
}

const TARGET = `${process.platform}-${process.arch}`

/** The Node that runs this, or one from npm if that is too old. */
async function findNode(needed: number, cache: string): Promise<string> {
  if (Number.parseInt(process.versions.node, 10) >= needed) return process.execPath
  const name = `node-${TARGET}`
  await installFirst(join(cache, 'node'), name, ['24'])
  return join(cache, 'node', 'node_modules', name, 'bin', 'node')
}

async function installFirst(folder: string, name: string, versions: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const errors: unknown[] = []
  for (const version of versions) {
    const args = ['install', ...NPM_FLAGS, `${name}@${version}`]
    try {
      await run('npm', args, { cwd: folder, maxBuffer: 1 << 24 })
      return
    } catch (error) {
      errors.push(error)
    }
  }
  throw errors[0]
}

const run = promisify(execFile)
const NPM_FLAGS = [
  '--ignore-scripts',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--engine-strict=false',
]
