// Puts the chunks that every run loads into one file. A bundler splits by who shares what, which makes dozens of small
// files; opening and linking each of them costs more than reading it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { inRoot } from './files.mjs'

const HOT = 'hot.js'

/**
 * Merges what these sources load when they start, and points everybody else to it. Returns the files that are left, or
 * undefined when there is nothing to merge.
 */
export async function mergeHot(metafile, { first, sources }) {
  const outputs = metafile.outputs
  const roots = Object.keys(outputs).filter((path) => sources.includes(outputs[path].entryPoint))
  const main = Object.keys(outputs).filter((path) => outputs[path].entryPoint === first)
  // What the very first file needs stays by itself: who asks only for the version loads no more than that.
  const early = closure(outputs, main)
  const hot = new Set([...closure(outputs, roots)].filter((path) => !early.has(path)))
  const folder = dirname([...hot][0] ?? '')
  if (hot.size < 2 || [...hot].some((path) => dirname(path) !== folder)) return undefined
  const file = posix.join(folder, HOT)
  const nameIn = (path, name) => `${basename(path, '.js').replaceAll(/[^\w$]/g, '_')}_${name}`

  const entry = [...hot]
    .map((path) => {
      const names = outputs[path].exports.map((name) => `${name} as ${nameIn(path, name)}`)
      return names.length > 0
        ? `export { ${names.join(', ')} } from './${basename(path)}'`
        : `import './${basename(path)}'`
    })
    .join('\n')
  const { build } = await import('esbuild')
  const cold = new Set(Object.keys(outputs).filter((path) => !hot.has(path)))
  await build({
    stdin: { contents: entry, resolveDir: inRoot(folder), sourcefile: HOT },
    outfile: inRoot(file),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    minify: true,
    sourcemap: 'linked',
    plugins: [coldOutside(cold, folder)],
    allowOverwrite: true,
    logLevel: 'warning',
  })

  // Those who are loaded by name keep their name; all others get what they need from the one file.
  for (const path of hot) {
    if (outputs[path].entryPoint === undefined) rmSync(inRoot(path), { force: true })
    else {
      const names = outputs[path].exports.map((name) => `${nameIn(path, name)} as ${name}`)
      writeFileSync(inRoot(path), `export { ${names.join(', ')} } from './${HOT}'\n`)
    }
    rmSync(inRoot(`${path}.map`), { force: true })
  }
  for (const path of cold) if (path.endsWith('.js')) redirect(path, hot, file, nameIn)
  const gone = [...hot].filter((path) => outputs[path].entryPoint === undefined)
  const maps = [...hot].map((path) => `${path}.map`)
  return [...Object.keys(outputs).filter((path) => !gone.includes(path) && !maps.includes(path)), file, `${file}.map`]
}

/** All that is loaded at once when these are. */
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

function coldOutside(cold, folder) {
  return {
    name: 'cold-outside',
    setup({ onResolve }) {
      onResolve({ filter: /.*/ }, ({ path, kind }) => {
        if (kind === 'entry-point') return undefined
        if (!path.startsWith('.')) return { path, external: true }
        const isDynamic = kind === 'dynamic-import'
        return isDynamic || cold.has(posix.join(folder, path)) ? { path, external: true } : undefined
      })
    },
  }
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
