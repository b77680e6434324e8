// The one set of esbuild options, for the build, the tests and the benchmarks alike.
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { inRoot, root } from './files.mjs'
import { isAlive } from './lock.mjs'

/** Bundles entry points into a folder and returns the files written; undefined when the sources are wrong (printed). */
export async function bundle({ entries, base, out, sourcemap = 'linked' }) {
  const { build } = await import('esbuild')
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: entries,
      outbase: base,
      outdir: out,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      packages: 'external',
      loader: { '.md': 'text' },
      chunkNames: 'chunks/[name]-[hash]',
      charset: 'utf8',
      sourcemap,
      metafile: true,
      logLevel: 'warning',
    })
    return Object.keys(metafile.outputs)
  } catch (error) {
    // esbuild has already printed these, with file and line.
    if (Array.isArray(error.errors)) return undefined
    throw error
  }
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
