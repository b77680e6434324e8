// Puts the chunks that every run loads into one CommonJS file, chunks/hot.cjs. A bundler splits by shared imports, which
// makes dozens of small files; opening and linking each costs more than reading it. One file can also keep its compiled
// code between runs (bin/dragoman), and a run that needs nothing else never starts Node's loader of ES modules.
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { inRoot } from './files.mjs'

const HOT = 'hot.cjs'
/** The same for ES modules: the other chunks, and users of the library. */
const DOOR = 'hot.js'
const COLD = 'cold.cjs'
/** Built-in modules of Node that are slow to load and not always needed: loaded on first use. */
const LATER = ['child_process', 'fs/promises', 'timers/promises']

/** Replacements for `import` and `require`. They have the same length, so that the source map stays right. */
const HELPERS = [
  // Code compiled with a cache cannot use import(), and built-in modules do not need it.
  `const obtain=(path)=>path.startsWith('node:')?Promise.resolve(require(path)):require('./${COLD}')(path);`,
  'const delayed=(path)=>new Proxy({},{get:(_,key)=>require(path)[key]});',
].join('')

/**
 * Merges the entry point and what these sources load when they start, and points everybody else to it. Returns the
 * files that are left.
 */
export async function mergeHot(metafile, { entry, sources, banner }) {
  const outputs = metafile.outputs
  const outputOf = (source) => Object.keys(outputs).find((path) => outputs[path].entryPoint === source)
  const main = outputOf(entry)
  const hot = closure(outputs, [main, ...sources.map(outputOf)])
  const folder = posix.join(dirname(dirname(main)), 'chunks')
  await writeHot({ hot, main, folder, banner })

  const parts = [...hot].filter((path) => path !== main)
  const nameIn = (path, name) => `${basename(path, '.js').replaceAll(/[^\w$]/g, '_')}_${name}`
  writeFileSync(inRoot(folder, DOOR), doorText(parts, outputs, nameIn))
  for (const path of Object.keys(outputs)) {
    if (hot.has(path)) rmSync(inRoot(`${path}.map`), { force: true })
    else if (path.endsWith('.js')) redirect(path, hot, posix.join(folder, DOOR), nameIn)
  }
  // Chunks that are loaded by name keep their name; all others are merged.
  for (const path of parts) {
    if (outputs[path].entryPoint === undefined) continue
    const names = outputs[path].exports.map((name) => `${nameIn(path, name)} as ${name}`)
    writeFileSync(inRoot(path), `export { ${names.join(', ')} } from './${DOOR}'\n`)
  }
  const gone = new Set([...hot].filter((path) => path === main || outputs[path].entryPoint === undefined))
  for (const path of gone) rmSync(inRoot(path), { force: true })
  const left = Object.keys(outputs).filter((path) => !gone.has(path) && !hot.has(path.replace(/\.map$/, '.js')))
  const own = [HOT, `${HOT}.map`, DOOR, COLD].map((name) => posix.join(folder, name))
  return [...left, ...[...hot].filter((path) => !gone.has(path)), ...own]
}

/** Writes the file. Each chunk in it still runs only when it is first required. */
async function writeHot({ hot, main, folder, banner }) {
  const parts = [...hot].filter((path) => path !== main)
  const contents = [
    `export { startCli } from '../${posix.relative(dirname(folder), main)}'`,
    'export const parts = {',
    ...parts.map((path) => `'${basename(path)}': () => require('./${basename(path)}'),`),
    '}',
  ].join('\n')
  const { build } = await import('esbuild')
  const outfile = inRoot(folder, HOT)
  const { metafile } = await build({
    stdin: { contents, resolveDir: inRoot(folder), sourcefile: 'hot-entry.js' },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // One byte for a character, in the file and in memory.
    charset: 'ascii',
    minify: true,
    banner: { js: HELPERS },
    sourcemap: 'linked',
    plugins: [onlyHot(hot, folder, banner)],
    logOverride: { 'empty-import-meta': 'error' },
    metafile: true,
    logLevel: 'warning',
  })
  const { imports } = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined)
  let wanted = imports.filter(({ kind }) => kind === 'dynamic-import').length
  const text = readFileSync(outfile, 'latin1')
    .replaceAll(/\bimport(?=\("[^"]+"\))/g, () => (wanted--, 'obtain'))
    .replaceAll(new RegExp(`\\brequire(?=\\("node:(?:${LATER.join('|')})"\\))`, 'g'), 'delayed')
  if (wanted !== 0) throw new Error(`${HOT}: not all imports were found`)
  // Compiled code is kept under this name, so it must change whenever the text does.
  const print = createHash('sha256').update(text).digest('hex').slice(0, 16)
  writeFileSync(outfile, `${text.trimEnd()}\n//${print}`, 'latin1')
  writeFileSync(inRoot(folder, COLD), '// Imports what is not in hot.cjs.\nmodule.exports = (path) => import(path)\n')
}

/** All chunks that are loaded statically with these. */
function closure(outputs, roots) {
  const found = new Set()
  const visit = (path) => {
    if (found.has(path) || !outputs[path]) return
    found.add(path)
    for (const { path: next, kind } of outputs[path].imports) if (kind === 'import-statement') visit(next)
  }
  for (const root of roots) visit(root)
  return found
}

/** Merges only hot chunks. In CommonJS, `require` exists already. */
function onlyHot(hot, folder, banner) {
  return {
    name: 'only-hot',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) => {
        if (kind === 'entry-point') return undefined
        if (!path.startsWith('.')) return { path, external: true }
        const target = posix.join(folder, posix.relative(inRoot(folder), posix.join(resolveDir, path)))
        if (hot.has(target)) return { path: inRoot(target) }
        return { path: `./${posix.relative(folder, target)}`, external: true }
      })
      // An empty line keeps the line numbers of the source map.
      onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(banner, '') }))
    },
  }
}

/** An ES module that exports what is in the file, under names that contain the chunk. */
function doorText(parts, outputs, nameIn) {
  const lines = parts.flatMap((path) => {
    const names = outputs[path].exports.map((name) => `${name}: ${nameIn(path, name)}`)
    return names.length === 0 ? [] : [`export const { ${names.join(', ')} } = parts['${basename(path)}']()`]
  })
  return `import { createRequire } from 'node:module'
const { parts } = createRequire(import.meta.url)('./${HOT}')
${lines.join('\n')}
`
}

/** Rewrites the imports of a file that lead to merged chunks. */
function redirect(path, hot, file, nameIn) {
  const text = readFileSync(inRoot(path), 'utf8')
  const there = posix.relative(dirname(path), file)
  const specifier = there.startsWith('.') ? there : `./${there}`
  const changed = text
    .replaceAll(/import\s*\{([^}]*)\}\s*from\s*"(\.[^"]*)"/g, (whole, names, from) => {
      const target = posix.join(dirname(path), from)
      if (!hot.has(target)) return whole
      const renamed = names
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '')
        .map((one) => {
          const [name, local = name] = one.split(/\s+as\s+/)
          return `${nameIn(target, name)} as ${local}`
        })
      return `import { ${renamed.join(', ')} } from "${specifier}"`
    })
    .replaceAll(/import\s*"(\.[^"]*)"/g, (whole, from) =>
      hot.has(posix.join(dirname(path), from)) ? `import "${specifier}"` : whole,
    )
  if (changed !== text) writeFileSync(inRoot(path), changed)
}
