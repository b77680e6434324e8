import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runInNewContext } from 'node:vm'
import { EMBED_APP, MAIN_APP } from './apps.mjs'
import { exec, expectOutput } from './exec.mjs'

const EMBED_SOURCE = `${EMBED_APP}\nconsole.log(check())\n`

/** What bundlers make of the package. Every bundle is run. */
export function bundlerRows({ tools, app }) {
  const load = (name) => import(pathToFileURL(createRequire(join(tools, 'package.json')).resolve(name)).href)
  const BUNDLERS = {
    esbuild: async (entry, out, { format, platform }) => {
      const { build } = await load('esbuild')
      const globalThisFormat = format === 'browser' ? 'iife' : format
      const external = ['@vscode/ripgrep']
      await build({
        entryPoints: [entry],
        outfile: out,
        bundle: true,
        format: globalThisFormat,
        platform,
        external,
        logLevel: 'silent',
      })
    },
    rollup: async (entry, out, { format }) => {
      const { rollup } = await load('rollup')
      const { nodeResolve } = await load('@rollup/plugin-node-resolve')
      const bundle = await rollup({
        input: entry,
        plugins: [nodeResolve({ browser: format === 'browser' })],
        onwarn() {},
      })
      await bundle.write({ file: out, format: { browser: 'iife', esm: 'es', cjs: 'cjs' }[format], name: 'app' })
    },
    webpack: async (entry, out, { format, platform }) => {
      const { default: webpack } = await load('webpack')
      const isModule = format === 'esm'
      const [filename, path] = [out.split('/').at(-1), out.split('/').slice(0, -1).join('/')]
      const library = format === 'browser' ? undefined : { type: isModule ? 'module' : 'commonjs2' }
      const stats = await new Promise((resolve, reject) => {
        const options = {
          entry,
          mode: 'production',
          target: platform === 'node' ? 'node20' : 'web',
          devtool: false,
          experiments: { outputModule: isModule },
          externals: { '@vscode/ripgrep': `${isModule ? 'import' : 'commonjs'} @vscode/ripgrep` },
          output: { path, filename, library, ...(isModule && { module: true, chunkFormat: 'module' }) },
        }
        webpack(options, (error, result) => (error ? reject(error) : resolve(result)))
      })
      if (stats.hasErrors()) throw new Error(stats.toString({ all: false, errors: true }))
    },
    vite: async (entry, out, { format }) => {
      const { build } = await load('vite')
      const formats = [{ browser: 'iife', esm: 'es', cjs: 'cjs' }[format]]
      const lib = { entry, formats, name: 'app', fileName: () => out.split('/').at(-1) }
      const outDir = out.split('/').slice(0, -1).join('/')
      const options = { lib, outDir, emptyOutDir: false }
      await build({ configFile: false, logLevel: 'silent', root: app, build: options })
    },
  }
  const FORMATS = { esm: 'node', cjs: 'node', browser: 'browser' }

  /** Bundles a program and runs the bundle, in Node or with only what a browser has. */
  async function bundleAndRun(bundler, source, format) {
    const folder = mkdtempSync(join(app, 'bundle-'))
    const entry = join(folder, 'entry.mjs')
    const out = join(folder, { esm: 'out.mjs', cjs: 'out.cjs', browser: 'out.js' }[format])
    writeFileSync(entry, source)
    await BUNDLERS[bundler](entry, out, { format, platform: FORMATS[format] })
    if (format !== 'browser') expectOutput(await exec(process.execPath, [out], folder), 'ok')
    else expectOutput(runInBrowserContext(readFileSync(out, 'utf8')), 'ok')
    return `${Math.round(sizeOf(folder, entry) / 1000)} kB`
  }

  const all = (bundler, source, formats) =>
    Object.fromEntries(formats.map((format) => [format, () => bundleAndRun(bundler, source, format)]))
  return [
    ...Object.keys(BUNDLERS).map((bundler) => ({
      name: `${bundler}, embed`,
      cells: all(bundler, EMBED_SOURCE, Object.keys(FORMATS)),
    })),
    ...['esbuild', 'webpack'].map((bundler) => ({
      name: `${bundler}, main entry, an agent that runs a command`,
      cells: all(bundler, MAIN_APP, ['esm', 'cjs']),
    })),
    {
      name: 'only what is used: `tool` alone',
      cells: all('esbuild', "import { tool } from 'dragoman'\nconsole.log(typeof tool === 'function' ? 'ok' : '')\n", [
        'esm',
        'cjs',
      ]),
    },
  ]
}

/** Runs a script with the globals that browsers and workers share, and nothing of Node. */
function runInBrowserContext(code) {
  let printed = ''
  const console = { log: (text) => (printed += `${text}\n`), error: (text) => (printed += `${text}\n`) }
  const shared = {
    AbortController,
    AbortSignal,
    clearTimeout,
    crypto,
    setTimeout,
    TextDecoder,
    TextEncoder,
    Uint8Array,
    URL,
  }
  const context = { console, ...shared }
  runInNewContext(code, { ...context, self: context, window: context })
  return printed
}

/** What a bundler wrote. */
function sizeOf(folder, entry) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((file) => file !== entry && statSync(file).isFile() && !file.endsWith('.map'))
    .reduce((sum, file) => sum + statSync(file).size, 0)
}
