// npm run bench: bundles bench/*.bench.ts and runs them one after the other. `npm run bench -- decode` runs those whose name has the word.
import { basename } from 'node:path'
import { ensure } from './ensure.mjs'
import { bundle, ownFolder } from './lib/bundle.mjs'
import { filesUnder } from './lib/files.mjs'
import { runNode } from './lib/run.mjs'

process.exitCode = (await main()) ? 0 : 1

async function main() {
  if (!(await ensure())) return false
  const words = process.argv.slice(2)
  const all = filesUnder('bench').filter((path) => path.endsWith('.bench.ts'))
  const entries = all.filter((path) => words.length === 0 || words.some((word) => basename(path).includes(word)))
  if (entries.length === 0) {
    console.error(`No benchmark in bench/ has a name with ${words.join(' or ')}.`)
    return false
  }
  const out = ownFolder('bench')
  if (!(await bundle({ entries, base: 'bench', out }))) return false
  let ok = true
  for (const entry of entries) {
    console.log(`\n${basename(entry, '.bench.ts')}`)
    const built = entry.replace(/^bench/, out).replace(/\.ts$/, '.js')
    ok = (await runNode(['--enable-source-maps', '--expose-gc', built])).ok && ok
  }
  return ok
}
