// Installing the dependencies. Node built-ins only: this is what runs first on a fresh clone.
import { existsSync, writeFileSync } from 'node:fs'
import { fingerprint, inRoot, readStamp } from './files.mjs'
import { withLock } from './lock.mjs'
import { runNpm } from './run.mjs'

/** Keeps the fingerprint of the lock file that was installed. */
const stamp = 'node_modules/.dragoman-stamp'

const lockPrint = () => fingerprint(['package-lock.json'])
const isInstalled = () => existsSync(inRoot('node_modules')) && readStamp(stamp) === lockPrint()

/** `npm install -g .` runs this with its own options in the environment. */
const HERE = ['--no-global', '--location=project']

/** Notes that what the lock file says is installed. */
export const markInstalled = () => writeFileSync(inRoot(stamp), lockPrint())

/** Installs exactly what the lock file says, unless that is what is installed. Returns whether it went well. */
export async function ensureInstalled() {
  if (isInstalled()) return true
  return await withLock(async () => {
    if (isInstalled()) return true // Another process did it while this one waited.
    console.error('dragoman: installing the dependencies (npm ci)')
    const print = lockPrint()
    const { ok } = await runNpm(['ci', ...HERE, '--include=dev', '--ignore-scripts', '--loglevel=error'])
    if (ok) writeFileSync(inRoot(stamp), print)
    else console.error('dragoman: npm ci failed')
    return ok
  })
}
