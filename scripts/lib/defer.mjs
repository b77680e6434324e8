// Loads modules at the first call of one of their functions. Everybody who imports such a module gets functions of the same
// names that first load it. Only the command is built so: it can load synchronously what it needs (hot.mjs).
import { posix } from 'node:path'
import { inRoot, root } from './files.mjs'

/** A plugin for esbuild. `deferred` has the group of each such source. They must be entry points, to get chunks of their own. */
export function deferring(deferred) {
  return {
    name: 'deferring',
    setup({ onResolve, onLoad, esbuild }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, kind, resolveDir }) => {
        const source = posix.relative(root, posix.join(resolveDir, path))
        return kind === 'import-statement' && deferred.has(source) ? { path: source, namespace: 'deferred' } : undefined
      })
      onLoad({ filter: /.*/, namespace: 'deferred' }, async ({ path }) => ({
        contents: standIn(`${deferred.get(path)}:${path}`, await exportsOf(esbuild, path)),
      }))
    },
  }
}

/** The module that is imported instead. After the first call its names are the functions themselves. */
function standIn(part, names) {
  return `let loaded
const load = () => {
  loaded = hotPart('${part}');
  ({ ${names.join(', ')} } = loaded)
  return loaded
}
${names.map((name) => `export let ${name} = (...args) => (loaded ?? load()).${name}(...args)`).join('\n')}
`
}

/** The names that a module exports, without types. */
async function exportsOf({ build }, source) {
  const { metafile } = await build({
    entryPoints: [inRoot(source)],
    outdir: root,
    format: 'esm',
    write: false,
    metafile: true,
  })
  return Object.values(metafile.outputs)[0].exports
}

/** Only functions can be deferred: a constant is read without a call. `load` returns what a module exports. */
export function checkDeferred(deferred, load) {
  for (const [source, group] of deferred)
    for (const [name, value] of Object.entries(load(`${group}:${source}`)))
      if (typeof value !== 'function' || /^[A-Z]/.test(name))
        throw new Error(`${source} cannot be deferred: ${name} is not a function`)
}
