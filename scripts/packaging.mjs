// npm run packaging: packs the package, installs it in temporary folders, and tries it with other people's tools: type
// checkers, bundlers and runtimes. Prints a table; every cell works or says why not. `npm run packaging -- tsc` makes only
// the rows whose name contains the word. The tools are installed for this run, and are no dependencies.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { inRoot } from './lib/files.mjs'
import { withLock } from './lib/lock.mjs'
import { bundlerRows } from './packaging/bundlers.mjs'
import { exec } from './packaging/exec.mjs'
import { runtimeRows } from './packaging/runtimes.mjs'
import { typeRows } from './packaging/types.mjs'
import { SDKS, TOOLS } from './packaging/versions.mjs'

const words = process.argv.slice(2)
const place = mkdtempSync(join(tmpdir(), 'dragoman-packaging-'))
process.once('exit', () => rmSync(place, { recursive: true, force: true }))
process.exitCode = (await main()) ? 0 : 1

async function main() {
  if (!(await withLock(() => build({ types: true })))) return false
  const packed = await exec('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', place], inRoot())
  const tarball = join(place, packed.trim().split('\n').at(-1))
  console.error('Installing the tools …')
  const context = { tarball, tools: await project('tools', TOOLS), app: await project('app', { dragoman: tarball }) }
  // Each with the versions of the vendors' SDKs of one time; the app has none.
  context.sdks = {}
  for (const [name, versions] of Object.entries(SDKS))
    context.sdks[name] = await project(`sdk-${name}`, { dragoman: tarball, ...versions })

  const rows = [...typeRows(context), ...bundlerRows(context), ...runtimeRows(context)]
  const wanted = rows.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  let ok = true
  console.log('| check | result |\n|---|---|')
  for (const { name, cells } of wanted) {
    const results = []
    for (const [label, check] of Object.entries(cells)) {
      const result = await attempt(check)
      ok &&= result.works
      results.push([label, result.text].filter((text) => text !== '').join(': '))
    }
    console.log(`| ${name} | ${results.join(' · ')} |`)
  }
  return ok
}

/** A check returns nothing or a figure if it works, and throws the reason if not. */
async function attempt(check) {
  try {
    return { works: true, text: (await check()) ?? 'works' }
  } catch (error) {
    const lines = String(error.message).trim().split('\n').slice(0, 12)
    if (words.length > 0) console.error(error.message)
    return { works: false, text: `**fails** (${lines.join(' ⏎ ').slice(0, 400)})` }
  }
}

/** A project with these packages. */
async function project(name, dependencies) {
  const folder = join(place, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--engine-strict=false']
  await exec('npm', ['install', ...flags], folder)
  return folder
}
