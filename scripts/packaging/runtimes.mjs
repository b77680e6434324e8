import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EMBED_APP, MAIN_APP } from './apps.mjs'
import { exec, expectOutput, runTool } from './exec.mjs'

/** The package as it is, without a bundler, in other runtimes. */
export function runtimeRows({ tools, app }) {
  const folder = () => mkdtempSync(join(app, 'run-'))
  const write = (source, name) => {
    const file = join(folder(), name)
    writeFileSync(file, source)
    return file
  }
  const embed = () => write(`${EMBED_APP}\nconsole.log(check())\n`, 'embed.mjs')
  const main = () => write(MAIN_APP, 'main.mjs')
  const deno = (file) => runTool(tools, 'deno', ['run', '-A', '--quiet', '--node-modules-dir=manual', file], app)
  return [
    {
      name: `Node ${process.versions.node}`,
      cells: {
        'embed, import': async () => expectOutput(await exec(process.execPath, [embed()], app), 'ok'),
        'embed, require': async () =>
          expectOutput(await exec(process.execPath, [write(REQUIRE_EMBED, 'a.cjs')], app), 'ok'),
        'main entry, import': async () => expectOutput(await exec(process.execPath, [main()], app), 'ok'),
        'main entry, require': async () =>
          expectOutput(await exec(process.execPath, [write(REQUIRE_MAIN, 'a.cjs')], app), 'ok'),
      },
    },
    {
      name: 'Bun',
      cells: {
        embed: async () => expectOutput(await runTool(tools, 'bun', [embed()], app), 'ok'),
        'embed, require': async () =>
          expectOutput(await runTool(tools, 'bun', [write(REQUIRE_EMBED, 'a.cjs')], app), 'ok'),
        'main entry': async () => expectOutput(await runTool(tools, 'bun', [main()], app), 'ok'),
      },
    },
    {
      name: 'Deno',
      cells: {
        embed: async () => expectOutput(await deno(embed()), 'ok'),
        'main entry': async () => expectOutput(await deno(main()), 'ok'),
      },
    },
    { name: 'workerd (Cloudflare Workers)', cells: { embed: () => runInWorker(tools, app) } },
  ]
}

const REQUIRE_EMBED = `
const { createAssembler } = require('dragoman/embed/openai')
const { GeminiStreamError } = require('dragoman/embed')
const shared = require('dragoman/embed/tachikoma').GeminiStreamError === GeminiStreamError
console.log(shared && createAssembler().end().finish.reason === 'fault' ? 'ok' : 'no')
`

const REQUIRE_MAIN = `
const { agent, tool, StoreError } = require('dragoman')
console.log(typeof agent === 'function' && typeof tool === 'function' && StoreError.name === 'StoreError' ? 'ok' : 'no')
`

/** A worker without any Node compatibility; it fails if the outcome is wrong. */
async function runInWorker(tools, app) {
  const folder = mkdtempSync(join(app, 'worker-'))
  const entry = join(folder, 'entry.mjs')
  const test = "export default { async test() { if (check() !== 'ok') throw new Error(check()) } }"
  writeFileSync(entry, `${EMBED_APP}\n${test}\n`)
  const flags = [
    '--bundle',
    '--format=esm',
    '--platform=browser',
    `--outfile=${join(folder, 'worker.js')}`,
    '--log-level=error',
  ]
  await runTool(tools, 'esbuild', [entry, ...flags], folder)
  writeFileSync(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = .worker)]);
const worker :Workerd.Worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-01-01");
`,
  )
  await runTool(tools, 'workerd', ['test', join(folder, 'config.capnp')], folder)
}
