// Tells V8 which functions to compile with their file. By default it only checks a function's syntax then, and parses it a second
// time at its first call. A function expression in parentheses is compiled at once. Only a start without compiled code gets faster.
import { readFileSync, writeFileSync } from 'node:fs'
import Module from 'node:module'
import { compileFunction } from 'node:vm'
import { writeHotFile } from './hot.mjs'

/** What V8 compiles is the text of a file in a function. */
const OFFSET = Module.wrapper[0].length
const HASH_LINE = /\n\/\/[0-9a-f]{16}$/

/** Marks functions of a hot file. `functions` has their ends by their starts, as V8 counts. */
export async function markEager(file, functions) {
  const text = readFileSync(file, 'latin1').replace(HASH_LINE, '')
  const insertions = findInsertions(text, functions)
  const parts = []
  let end = 0
  for (const { at, added } of insertions) {
    parts.push(text.slice(end, at), added)
    end = at
  }
  const marked = [...parts, text.slice(end)].join('')
  // Throws if a function was taken for one of another kind.
  compileFunction(marked)
  const map = await shiftSourceMap(readFileSync(`${file}.map`, 'utf8'), text, insertions)
  writeHotFile(file, marked)
  writeFileSync(`${file}.map`, map)
}

function findInsertions(text, functions) {
  const insertions = []
  const enclosing = []
  if (!functions.has(0) || !functions.has(1))
    throw new Error('The file itself, or the function around it, was not recorded.')
  for (const [start, end] of [...functions].sort(([a], [b]) => a - b)) {
    while (enclosing.length > 0 && enclosing.at(-1) <= start) enclosing.pop()
    const [from, to] = [start - OFFSET, end - OFFSET]
    // The whole file and the function around it enclose all others.
    if (enclosing.length > 1) insertions.push(...insertionsOf(text, from, to, enclosing.length === 2))
    enclosing.push(end)
  }
  // Where one function ends and the next one begins, the end comes first.
  return insertions.sort((a, b) => a.at - b.at || a.order - b.order)
}

function insertionsOf(text, from, to, isOutermost) {
  const [isFunction, name] = /^(?:async )?function\*? ?([\w$]*)\(/.exec(text.slice(from, from + 100)) ?? []
  // Methods, and what the bundler could not turn into a function expression.
  if (isFunction === undefined) return []
  const isDeclaration = name !== '' && /[;{}\n]/.test(text[from - 1])
  // A declaration can be called before the place where it stands. In the file itself, nothing is called before its end.
  if (isDeclaration && !isOutermost) return []
  // In a function expression its own name is a constant.
  if (isDeclaration && new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}=(?!=)`).test(text.slice(from, to)))
    return []
  const [before, after] = isDeclaration ? [`var ${name}=(`, ');'] : ['(', ')']
  return [
    { at: from, added: before, order: 1 },
    { at: to, added: after, order: 0 },
  ]
}

async function shiftSourceMap(source, text, insertions) {
  const { decode, encode } = await import('@jridgewell/sourcemap-codec')
  const map = JSON.parse(source)
  const lines = decode(map.mappings)
  let lineStart = 0
  let next = 0
  for (const [number, line] of text.split('\n').entries()) {
    let shift = 0
    for (const segment of lines[number] ?? []) {
      while (insertions[next]?.at <= lineStart + segment[0]) shift += insertions[next++].added.length
      segment[0] += shift
    }
    lineStart += line.length + 1
    while (insertions[next]?.at < lineStart) next++
  }
  return JSON.stringify({ ...map, mappings: encode(lines) })
}
