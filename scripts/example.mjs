// npm run example -- embed-tachikoma: bundles one of examples/ and runs it, on any Node that Dragoman supports.
import { ensure } from './ensure.mjs'
import { bundle, ownFolder } from './lib/bundle.mjs'
import { filesUnder } from './lib/files.mjs'
import { runNode } from './lib/run.mjs'

process.exitCode = (await main()) ? 0 : 1

async function main() {
  if (!(await ensure())) return false
  const [name = '', ...rest] = process.argv.slice(2)
  const all = filesUnder('examples').filter((path) => path.endsWith('.ts'))
  const entry = all.find((path) => path === `examples/${name.replace(/\.ts$/, '')}.ts`)
  if (!entry) {
    console.error(`Name one of: ${all.map((path) => path.slice('examples/'.length, -3)).join(', ')}`)
    return false
  }
  const out = ownFolder('examples')
  if (!(await bundle({ entries: [entry], base: 'examples', out }))) return false
  return (await runNode(['--enable-source-maps', entry.replace(/^examples/, out).replace(/\.ts$/, '.js'), ...rest])).ok
}
