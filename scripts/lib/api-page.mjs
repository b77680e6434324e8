// The reference of the library: every name that an entry of the package exports, with its comment and its declaration. The page
// is also the snapshot of the API: a test fails if it is not up to date, so that every change of the surface is seen in a review.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inRoot } from './files.mjs'

/** `entries`: the specifier of each entry of the package, and its source. */
export function apiPage(entries) {
  const shown = new Set()
  const sections = Object.entries(entries).map(([specifier, source]) => {
    const names = exportsOf(source).sort((a, b) => (a.name < b.name ? -1 : 1))
    const missing = names.filter(({ comment }) => comment === '').map(({ name }) => name)
    if (missing.length > 0) throw new Error(`no comment above the exports of ${specifier}: ${missing.join(', ')}`)
    const isNew = ({ name, code }) => !shown.has(`${name} ${code}`)
    const again = names.filter((one) => !isNew(one)).map(({ name }) => `\`${name}\``)
    const parts = names
      .filter(isNew)
      .map(({ name, comment, code }) => `### ${name}\n\n${comment}\n\n\`\`\`ts\n${code}\n\`\`\`\n`)
    for (const { name, code } of names) shown.add(`${name} ${code}`)
    const repeated = again.length === 0 ? '' : `Also here, as above: ${again.join(', ')}.\n\n`
    return `## \`${specifier}\`\n\n${repeated}${parts.join('\n')}`
  })
  return `${INTRODUCTION}\n${sections.join('\n')}`
}

const INTRODUCTION = `# API reference

Every name that the package exports, with its declaration. This page is generated from the sources. How the parts are used:
[library](library.md).
`

/** The exported names of a module, followed through its re-exports. */
function exportsOf(path) {
  const text = read(path)
  const found = []
  for (const [, list, from] of text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm)) {
    for (const item of list.split(',').map((one) => one.trim().replace(/^type /, ''))) {
      if (item === '') continue
      const [original, name = original] = item.split(/ as /)
      found.push({ ...declarationOf(from ? join(dirname(path), from) : path, original), name })
    }
  }
  for (const [, from] of text.matchAll(/^export \* from '([^']+)'/gm))
    found.push(...exportsOf(join(dirname(path), from)))
  for (const [, name] of text.matchAll(DECLARATION)) found.push({ ...declarationOf(path, name), name })
  return found
}

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|class|interface|type|enum) (\w+)/gm

/** The comment and the code of a declaration, in the module where it is. */
function declarationOf(path, name) {
  const text = read(path)
  const start = new RegExp(
    String.raw`^(?:export )?(?:async )?(function\*?|const|class|interface|type) ${name}\b`,
    'm',
  ).exec(text)
  if (!start) {
    const again = new RegExp(
      String.raw`^export (?:type )?\{[^}]*?\b(?:(\w+) as )?${name}\b[^}]*\} from '([^']+)'`,
      'm',
    ).exec(text)
    const imported = new RegExp(
      String.raw`^import (?:type )?\{[^}]*?\b(?:(\w+) as )?${name}\b[^}]*\} from '([^']+)'`,
      'm',
    ).exec(text)
    const [, original = name, from] = again ?? imported ?? []
    if (from === undefined) throw new Error(`${path} does not declare ${name}`)
    return declarationOf(join(dirname(path), from), original)
  }
  const [, kind] = start
  const rest = text.slice(start.index)
  return { comment: commentBefore(text.slice(0, start.index)), code: toDeclaration(kind, rest) }
}

/** The text of a doc comment that ends here, as one paragraph. */
function commentBefore(text) {
  const [, comment] = /\/\*\*((?:(?!\*\/|\/\*\*)[^])*)\*\/\n$/.exec(text) ?? []
  return (comment ?? '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Types as they are written, functions and values without their bodies. */
function toDeclaration(kind, text) {
  const lines = text.split('\n')
  if (kind === 'interface' || kind === 'type' || kind === 'class') {
    const end = /[{(|=&]$|^\S.*<$/.test(lines[0] ?? '')
      ? lines.findIndex((line, at) => at > 0 && /^[})]|^\s*$/.test(line))
      : 0
    const whole = lines.slice(0, end + 1).filter((line) => line !== '')
    const code =
      kind === 'class'
        ? whole.filter((line) => /^(?:export )?class|^ {2}(?:override )?(?:readonly|get) |^\}/.test(line))
        : whole
    return code.join('\n').replace(/^export /, '')
  }
  if (kind === 'const') return (/^(?:export )?const [^=]*/.exec(text)?.[0] ?? '').trim().replace(/^export /, '')
  const end = lines.findIndex((line) => line.endsWith('{') && !/[(<,:] ?\{$/.test(line))
  return lines
    .slice(0, end + 1)
    .join('\n')
    .replace(/^export (?:async )?/, '')
    .replace(/ \{$/, '')
}

function read(path) {
  return readFileSync(inRoot(path), 'utf8')
}
