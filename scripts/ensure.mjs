// Makes a checkout ready to run: installs the dependencies and builds, each only when needed, and silent when not.
// It runs on a fresh clone, so all that it imports at once uses Node built-ins only.
import { build, isBuilt } from './build.mjs'
import { isMain } from './lib/files.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { withLock } from './lib/lock.mjs'

/** Builds dist/ unless it was built from the present sources. Returns whether it went well. */
export async function ensureBuilt() {
  if (isBuilt()) return true
  return await withLock(async () => {
    if (isBuilt()) return true // Another process did it while this one waited.
    console.error('dragoman: building')
    const ok = await build()
    if (!ok) console.error('dragoman: the build failed')
    return ok
  })
}

/** Installs, then builds. Returns whether both went well. */
export const ensure = async () => (await ensureInstalled()) && (await ensureBuilt())

if (isMain(import.meta.url) && !(await ensure())) process.exitCode = 1
