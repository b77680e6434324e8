// npm run clients: installs other agents from npm into a cache folder (--cache, else in the user's cache), and runs each on a
// loopback server with an empty home and a scratch workspace. `npm run clients -- codex claude` runs only these.
// It prints a table: which of their tools are read, and how many survive the way to each other wire and back. --out FOLDER
// keeps all requests, for tests (DRAGOMAN_CLIENT_CAPTURES=FOLDER npm test -- client-captures).
// --sessions imports the session that each has made, whole and with torn ends, and continues it on another wire. --homes FOLDER
// keeps what they wrote into their home folders.
// --gateway runs each through `dragoman gateway run` on models of all wires instead: a task of five turns, without and with what
// goes wrong upstream. --wires and --faults choose some (`--faults none`: only the task), --jobs N runs several at once, and
// --out FOLDER keeps what was sent. --resume takes the runs that are already in that folder instead of running them again.
import { ensure } from './ensure.mjs'
import { root } from './lib/files.mjs'
import { bundle, ownFolder } from './lib/bundle.mjs'
import { runNode } from './lib/run.mjs'

process.exitCode = await main()

async function main() {
  if (!(await ensure())) return 1
  const out = ownFolder('clients')
  if (!(await bundle({ entries: ['scripts/clients/main.ts'], base: 'scripts', out }))) return 1
  const args = [`${out}/clients/main.js`, '--root', root, ...process.argv.slice(2)]
  const { code } = await runNode(['--enable-source-maps', ...args])
  return code
}
