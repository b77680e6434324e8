// npm run clients: installs other agents from npm into a cache folder (--cache, else in the user's cache), runs each on a
// loopback server with a dummy key, an empty home and a scratch workspace, and prints a table: which of their tools are
// read, and how many survive the way to each other wire and back. `npm run clients -- codex claude` runs only these.
// --sessions imports the session that each has made, whole and with torn ends, and continues it on another wire.
// --homes FOLDER keeps what they wrote into their home folders.
// --out FOLDER keeps all requests, for tests (DRAGOMAN_CLIENT_CAPTURES=FOLDER npm test -- client-captures).
import { ensureBuilt } from './ensure.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { bundle, ownFolder } from './lib/bundle.mjs'
import { runNode } from './lib/run.mjs'

process.exitCode = await main()

async function main() {
  if (!(await ensureInstalled())) return 1
  if (process.argv.includes('--sessions') && !(await ensureBuilt())) return 1
  const out = ownFolder('clients')
  if (!(await bundle({ entries: ['scripts/clients/main.ts'], base: 'scripts', out }))) return 1
  const { code } = await runNode(['--enable-source-maps', `${out}/clients/main.js`, ...process.argv.slice(2)])
  return code
}
