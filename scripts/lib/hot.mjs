// Puts the chunks that most runs load into a few CommonJS files, chunks/hot-<group>.cjs. A bundler splits by shared imports,
// which makes dozens of small files; opening and linking each costs more than reading it. These files can also keep their
// compiled code between runs (bin/dragoman), and a run that needs nothing else never starts Node's loader of ES modules.
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, posix } from 'node:path'
import { checkDeferred } from './defer.mjs'
import { inRoot } from './files.mjs'

const COLD = 'cold.cjs'
const COPIED = [COLD, 'engine-flags.cjs']
/** Built-in modules of Node that are slow to load and not always needed: loaded on first use. */
const LATER = ['child_process', 'fs/promises', 'timers/promises']

/**
 * Replacements for `require` and `import`. They have the same length, so that the source map stays right. A chunk in a group
 * is called `calls:chunk-ABC.js`, and one that is loaded at its first call (defer.mjs) `calls:src/policy/approval-policy.ts`.
 */
const HELPERS = [
  "const hotPart=(path)=>{const[group,name]=path.split(':');return require(`./hot-${group}.cjs`).parts[name]()};",
  'const delayed=(path)=>new Proxy({},{get:(_,key)=>require(path)[key]});',
  // Code compiled with a cache cannot use import(), and built-in modules do not need it.
  `const obtain=async(path)=>path.startsWith('node:')?require(path):path.includes(':')?hotPart(path):require('./${COLD}')(path);`,
].join('')

/**
 * Merges the chunks of each group: what its sources load when they start, and no earlier group has. Points everybody else to
 * them. Returns the files that are left.
 */
export async function mergeHot(metafile, { entry, groups, deferred, banner }) {
  const outputs = metafile.outputs
  const outputOf = (source) => Object.keys(outputs).find((path) => outputs[path].entryPoint === source)
  const main = outputOf(entry)
  const folder = posix.join(dirname(dirname(main)), 'chunks')
  mkdirSync(inRoot(folder), { recursive: true })
  const hot = new Map()
  for (const [group, sources] of Object.entries(groups))
    for (const path of closure(outputs, sources.map(outputOf))) if (!hot.has(path)) hot.set(path, group)

  const keyOf = (path) =>
    deferred.has(outputs[path].entryPoint) ? outputs[path].entryPoint : posix.relative(folder, path)
  const nameOf = (path) => `${hot.get(path)}:${keyOf(path)}`
  const asked = askedFromOutside(outputs, hot, [...deferred.keys()].map(outputOf))
  const places = { outputs, hot, folder, main, keyOf, nameOf, asked }
  await Promise.all(Object.keys(groups).map((group) => writeGroup(group, places, banner)))
  for (const name of COPIED) copyFileSync(inRoot('scripts/lib', name), inRoot(folder, name))
  checkDeferred(deferred, createRequire(inRoot(folder, COLD))('./hot-start.cjs').part)

  const files = new Set([
    ...Object.keys(groups).flatMap((group) => [`hot-${group}.cjs`, `hot-${group}.cjs.map`]),
    ...COPIED,
  ])
  const left = new Set([...files].map((name) => posix.join(folder, name)))
  const imported = Object.values(outputs).flatMap(({ imports = [] }) => imports)
  for (const path of Object.keys(outputs)) {
    const code = path.replace(/\.map$/, '')
    if (!hot.has(code)) {
      if (path.endsWith('.js')) redirect(path, places)
      left.add(path)
    } else if (imported.some((one) => one.path === path && one.kind === 'dynamic-import')) {
      // Chunks that are loaded by name keep their name.
      writeFileSync(inRoot(path), doorText(path, places))
      left.add(path)
    } else rmSync(inRoot(path), { force: true })
  }
  return [...left]
}

/** Writes the file of a group. Each chunk in it still runs only when it is first required. */
async function writeGroup(group, places, banner) {
  const { hot, folder, main, keyOf, asked } = places
  const isFirst = hot.get(main) === group
  const required = (path) => `'${keyOf(path)}': () => require('./${posix.relative(folder, path)}')`
  const parts = [...asked].filter((path) => hot.get(path) === group).map(required)
  const contents = [
    isFirst ? `export { startCli } from './${posix.relative(folder, main)}'` : '',
    isFirst ? 'export const part = (path) => hotPart(path)' : '',
    `export const parts = {${parts.join(',\n')}}`,
  ].join('\n')
  const { build } = await import('esbuild')
  const outfile = inRoot(folder, `hot-${group}.cjs`)
  const { metafile } = await build({
    stdin: { contents, resolveDir: inRoot(folder), sourcefile: 'hot-entry.js' },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // One byte for a character, in the file and in memory.
    charset: 'ascii',
    // V8 parses arrow functions in a function as a whole each time, and cannot be told to compile them at once (eager.mjs).
    supported: { arrow: false },
    minify: true,
    banner: { js: HELPERS },
    sourcemap: 'linked',
    plugins: [onlyGroup(group, places, banner)],
    logOverride: { 'empty-import-meta': 'error' },
    metafile: true,
    logLevel: 'warning',
  })
  const { imports } = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint !== undefined)
  let wanted = imports.filter(({ kind }) => kind === 'dynamic-import').length
  const text = readFileSync(outfile, 'latin1')
    .replaceAll(/\bimport(?=\("[^"]+"\))/g, () => (wanted--, 'obtain'))
    .replaceAll(/\brequire(?=\("(?!node:)[\w-]+:)/g, 'hotPart')
    .replaceAll(new RegExp(`\\brequire(?=\\("node:(?:${LATER.join('|')})"\\))`, 'g'), 'delayed')
  if (wanted !== 0) throw new Error(`${outfile}: not all imports were found`)
  writeHotFile(outfile, text)
}

/** Compiled code is kept under the hash in the last line, so it must change whenever the text does. */
export function writeHotFile(file, text) {
  const print = createHash('sha256').update(text).digest('hex').slice(0, 16)
  writeFileSync(file, `${text.trimEnd()}\n//${print}`, 'latin1')
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

/** The hot chunks that other groups or other files use. */
function askedFromOutside(outputs, hot, deferred) {
  const asked = new Set(deferred)
  for (const [path, { imports }] of Object.entries(outputs))
    for (const { path: target } of imports) if (hot.has(target) && hot.get(target) !== hot.get(path)) asked.add(target)
  return asked
}

/** Merges only chunks of this group. What another has is taken from there once, when the chunk that needs it starts. */
function onlyGroup(group, { outputs, hot, folder, nameOf }, banner) {
  return {
    name: 'only-group',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /.*/ }, ({ path, kind, resolveDir }) => {
        if (kind === 'entry-point') return undefined
        if (!path.startsWith('.')) return { path, external: true }
        const target = posix.join(folder, posix.relative(inRoot(folder), posix.join(resolveDir, path)))
        if (hot.get(target) === group) return { path: inRoot(target) }
        if (!hot.has(target)) return { path: `./${posix.relative(folder, target)}`, external: true }
        return kind === 'import-statement'
          ? { path: target, namespace: 'group' }
          : { path: nameOf(target), external: true }
      })
      onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => ({
        contents: `export const { ${outputs[path].exports.join(', ')} } = require('${nameOf(path)}')`,
      }))
      // In CommonJS, `require` exists already. An empty line keeps the line numbers of the source map.
      onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(banner, '') }))
    },
  }
}

/** The function that returns what a hot chunk exports, for ES modules that have `require`. */
function partFrom(file, { folder }) {
  const there = posix.relative(dirname(file), posix.join(folder, 'hot-start.cjs'))
  return `require("${there.startsWith('.') ? there : `./${there}`}").part`
}

/** An ES module that exports what a hot chunk does. */
function doorText(path, places) {
  return `import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
export const { ${places.outputs[path].exports.join(', ')} } = ${partFrom(path, places)}("${places.nameOf(path)}")
`
}

/** Rewrites the imports of a file that lead to hot chunks. */
function redirect(path, places) {
  const text = readFileSync(inRoot(path), 'utf8')
  const part = partFrom(path, places)
  const exportsOf = (from) => {
    const target = posix.join(dirname(path), from)
    return places.hot.has(target) ? `${part}("${places.nameOf(target)}")` : undefined
  }
  const changed = text
    .replaceAll(/import\s*\{([^}]*)\}\s*from\s*"(\.[^"]*)"/g, (whole, names, from) => {
      const found = exportsOf(from)
      return found ? `const{${names.replaceAll(/\s+as\s+/g, ':')}}=${found}` : whole
    })
    .replaceAll(/import\s*"(\.[^"]*)"/g, (whole, from) => exportsOf(from) ?? whole)
    .replaceAll(/\bhotPart(?=\()/g, part)
  if (changed !== text) writeFileSync(inRoot(path), changed)
}
