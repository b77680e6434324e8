// The one set of esbuild options, for the build, the tests and the benchmarks alike.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { inRoot, root } from './files.mjs'
import { isAlive } from './lock.mjs'
import { deferring } from './defer.mjs'
import { mergeHot } from './hot.mjs'
import { inspectorPage, pageInputs } from './inspector-page.mjs'
import { usedInputs } from './used-inputs.mjs'

/** Libraries that are bundled, with their dependencies, so that installing the package is fast and small. */
const inside = [
  '@cfworker/json-schema',
  '@earendil-works/pi-tui',
  '@modelcontextprotocol/client',
  '@opentelemetry',
  '@pydantic/genai-prices',
  'diff',
  'eventsource-parser',
  'get-east-asian-width',
  'highlight.js',
  'iconv-lite',
  'ignore',
  'ipaddr.js',
  'marked',
  'node-html-markdown',
  'smol-toml',
  'tree-sitter-bash',
  'undici',
  'web-tree-sitter',
]

/** Every other package stays external. */
export const packagesOutside = {
  name: 'packages-outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./#]/ }, ({ path, importer }) => {
      if (importer.includes('/node_modules/') || inside.some((name) => path === name || path.startsWith(`${name}/`)))
        return undefined
      return isAbsolute(path) ? undefined : { path, external: true }
    })
  },
}

/** CommonJS libraries load Node's built-in modules with require. */
const banner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/**
 * Bundles entry points into a folder. Returns the files written and the files that are in them; undefined when the sources are wrong
 * (printed).
 */
export async function bundle({ entries, base, out, chunks = 'chunks', minify = false, sourcemap = 'linked', hot }) {
  const { build } = await import('esbuild')
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: [...entries, ...(hot?.deferred.keys() ?? [])],
      outbase: base,
      outdir: out,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      plugins: [inspectorPage, ...(hot ? [deferring(hot.deferred)] : []), packagesOutside],
      loader: { '.md': 'text', '.wasm': 'file' },
      assetNames: 'assets/[name]-[hash]',
      chunkNames: `${chunks}/[name]-[hash]`,
      charset: 'utf8',
      banner: { js: banner },
      // Minified; the source maps are for people.
      minify,
      sourcemap,
      metafile: true,
      logLevel: 'warning',
    })
    const files = hot ? await mergeHot(metafile, { ...hot, banner }) : Object.keys(metafile.outputs)
    return { files, inputs: [...Object.values(metafile.outputs).flatMap(usedInputs), ...pageInputs] }
  } catch (error) {
    // esbuild has already printed these, with file and line.
    if (Array.isArray(error.errors)) return undefined
    throw error
  }
}

/** Ends the process that esbuild keeps for the next bundle. */
export async function stopBundler() {
  const { stop } = await import('esbuild')
  await stop()
}

/**
 * A folder under .build/<kind> for this process alone, removed at its end: several people or terminals may test at once.
 * Folders left by processes that were killed are removed too.
 */
export function ownFolder(kind) {
  mkdirSync(inRoot('.build', kind), { recursive: true })
  for (const name of readdirSync(inRoot('.build', kind))) {
    if (!isAlive(Number(name))) rmSync(inRoot('.build', kind, name), { recursive: true, force: true })
  }
  const folder = `.build/${kind}/${process.pid}`
  process.once('exit', () => rmSync(inRoot(folder), { recursive: true, force: true }))
  return folder
}
