// Builds the library: readable ES modules that any bundler can follow, and CommonJS files for `require`.
import { readFileSync, writeFileSync } from 'node:fs'
import { builtinModules, createRequire } from 'node:module'
import { basename, posix } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { packagesOutside } from './bundle.mjs'
import { usedInputs } from './used-inputs.mjs'
import { inRoot, root } from './files.mjs'

/** The sources of the entry points, from `exports` of package.json: ./dist/embed/openai.js is src/embed/openai.ts. */
export function libraryEntries() {
  const { exports } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  return (
    Object.values(exports)
      // `unstable` has only types, so that the declarations of users can name every type.
      .filter((entry) => entry.import?.default !== undefined)
      .map((entry) => entry.import.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'))
  )
}

/** Builds all entry points. Returns like `bundle`. */
export async function bundleLibrary() {
  const { build } = await import('esbuild')
  const entries = libraryEntries()
  const common = {
    absWorkingDir: root,
    outbase: 'src',
    bundle: true,
    platform: 'node',
    target: 'es2022',
    // Only the command has files beside it.
    define: { 'import.meta.url': '""', __dirname: '""', __filename: '""' },
    plugins: [wasmInside, builtinsAsImports, packagesOutside],
    loader: { '.md': 'text' },
    charset: 'utf8',
    // For tests: the maps are not in the package, so the files do not refer to them.
    sourcemap: 'external',
    metafile: true,
    logLevel: 'warning',
  }
  try {
    // Every module that the main entry point exports is an entry point too. So each has files of its own, and a bundler
    // that needs one of them leaves the others out.
    const { metafile: graph } = await build({
      ...common,
      entryPoints: entries,
      outdir: 'dist',
      format: 'esm',
      write: false,
    })
    const { imports } = graph.inputs['src/index.ts']
    const exported = imports.filter(({ path }) => path.startsWith('src/')).map(({ path }) => path)
    const { metafile } = await build({
      ...common,
      entryPoints: [...new Set([...entries, ...exported])],
      outdir: 'dist',
      splitting: true,
      format: 'esm',
      chunkNames: 'library/[name]-[hash]',
    })
    for (const path of Object.keys(metafile.outputs)) if (path.endsWith('.js')) dropBareImports(path)
    const shared = await buildCommonJs(build, common, entries.filter(isForAnyHost))
    for (const entry of entries) writeFileSync(inRoot(commonJsFile(entry)), commonJsText(entry))
    const outputs = { ...metafile.outputs, ...shared.outputs }
    return {
      files: [...Object.keys(outputs), ...entries.map(commonJsFile)],
      inputs: Object.values(outputs).flatMap(usedInputs),
    }
  } catch (error) {
    // esbuild has already printed these, with file and line.
    if (Array.isArray(error.errors)) return undefined
    throw error
  }
}

/** Imports for the order of side effects; the library has none, and bundlers warn about them. */
function dropBareImports(path) {
  writeFileSync(inRoot(path), readFileSync(inRoot(path), 'utf8').replaceAll(/^import "\.[^"]*";\n/gm, ''))
}

/** The helpers for other agents run in any host, also in one whose Node cannot `require` an ES module. */
const isForAnyHost = (entry) => entry.startsWith('src/embed/')
const commonJsFile = (entry) => entry.replace(/^src\/(.*)\.ts$/, 'dist/$1.cjs')

/** One file with all these entry points, so that they share their classes. */
async function buildCommonJs(build, common, entries) {
  const contents = entries.map((entry) => `export * as ${nameOf(entry)} from './${entry}'`).join('\n')
  const outfile = commonJsFile(SHARED)
  const stdin = { contents, resolveDir: root, sourcefile: 'all.js' }
  return (await build({ ...common, stdin, outfile, format: 'cjs' })).metafile
}

const SHARED = 'src/embed/all.ts'
const nameOf = (entry) => basename(entry, '.ts')

function commonJsText(entry) {
  // Node 20.19 and later load ES modules with `require`, so there is only one copy of the engine.
  if (!isForAnyHost(entry)) return `module.exports = require('./${nameOf(entry)}.js')\n`
  return `module.exports = require('./${posix.basename(commonJsFile(SHARED))}').${nameOf(entry)}\n`
}

/** WebAssembly is in the code, compressed: a bundler would not find a file. */
const wasmInside = {
  name: 'wasm-inside',
  setup({ onLoad, onResolve }) {
    // Its ES module needs the address of the file that it is in.
    const engine = createRequire(inRoot('package.json')).resolve('web-tree-sitter')
    onResolve({ filter: /^web-tree-sitter$/ }, () => ({ path: engine }))
    onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: `import { brotliDecompressSync } from 'node:zlib'
export default brotliDecompressSync(Buffer.from('${brotliCompressSync(readFileSync(path)).toString('base64')}', 'base64'))`,
    }))
  },
}

/** CommonJS packages load Node's modules with `require`, which an ES module does not have. */
const builtinsAsImports = {
  name: 'builtins-as-imports',
  setup({ onLoad, onResolve }) {
    const names = new RegExp(`^(?:node:)?(?:${builtinModules.join('|')})$`)
    onResolve({ filter: names }, ({ path, kind }) => {
      const name = path.replace(/^node:/, '')
      return kind === 'require-call' ? { path: name, namespace: 'required' } : { path: `node:${name}`, external: true }
    })
    onResolve({ filter: /^imported:/ }, ({ path }) => ({ path: path.slice('imported:'.length), namespace: 'imported' }))
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require('imported:${path}').default`,
    }))
    onLoad({ filter: /.*/, namespace: 'imported' }, ({ path }) => ({
      contents: `export { default } from 'node:${path}'`,
    }))
  },
}
