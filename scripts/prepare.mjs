// npm runs this after `npm install` in a checkout, and for a project that installs this folder or its git repository:
// the build with its declarations, only when it is needed.
import { existsSync } from 'node:fs'
import { build, isBuilt } from './build.mjs'
import { inRoot } from './lib/files.mjs'
import { ensureInstalled, markInstalled } from './lib/install.mjs'
import { withLock } from './lib/lock.mjs'

const hasTools = ['esbuild', 'typescript'].every((name) => existsSync(inRoot('node_modules', name)))
const leavesToolsOut = /\bdev\b/.test(process.env.npm_config_omit ?? '') || process.env.NODE_ENV === 'production'

// `npm ci` has installed what npm start and npm test would install again.
if (hasTools && process.env.npm_command === 'ci') markInstalled()

if (hasTools || !leavesToolsOut) {
  // npm itself has just installed what is here: nothing is installed twice.
  const ok = (hasTools || (await ensureInstalled())) && (await withLock(prepare))
  if (!ok) process.exitCode = 1
}

async function prepare() {
  return isBuilt({ types: true }) || (await build({ types: true }))
}
