import type { Json, JsonObject } from './json.ts'

/** A Markdown file: the fields between its first two lines of dashes, and the text below. */
export interface FrontMatterDocument {
  readonly fields: JsonObject
  readonly body: string
}

/**
 * Reads the part of YAML that front matter uses: texts, numbers, booleans, lists, folded and literal blocks, and one level of maps.
 * A line that is none of them is left out: a definition of somebody else must not be lost for a field that nobody reads.
 */
export function parseFrontMatter(text: string): FrontMatterDocument {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const end = lines[0]?.trimEnd() === '---' ? lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---') : -1
  if (end < 0) return { fields: {}, body: lines.join('\n').trim() }
  const body = lines
    .slice(end + 1)
    .join('\n')
    .trim()
  return { fields: parseFields(lines.slice(1, end)), body }
}

function parseFields(lines: readonly string[]): JsonObject {
  const fields = new Map<string, Json>()
  for (let at = 0; at < lines.length; at++) {
    const [, key, rest = ''] = /^([\w$-][\w .$-]*?)\s*:(?:\s+(.*))?$/.exec(lines[at] ?? '') ?? []
    if (key === undefined) continue
    let end = at + 1
    while (end < lines.length && /^(?:\s|-\s|$)/.test(lines[end] ?? '')) end++
    fields.set(key, parseValue(stripComment(rest), lines.slice(at + 1, end)))
    at = end - 1
  }
  return Object.fromEntries(fields)
}

function parseValue(rest: string, block: readonly string[]): Json {
  const indented = block.map((line) => line.trim())
  const style = /^[|>][+-]?\d?$/.exec(rest)?.[0]
  if (style?.startsWith('|')) return removeIndent(block).trimEnd()
  if (style?.startsWith('>')) return foldLines(indented)
  const content = indented.filter((line) => line !== '' && !line.startsWith('#'))
  if (rest === '') {
    if (content.length === 0) return null
    if (content.every((line) => line.startsWith('-'))) return content.map((line) => parseScalar(line.slice(1).trim()))
    return parseFields(removeIndent(block).split('\n'))
  }
  if (rest.startsWith('[')) return parseFlowList([rest, ...content].join(' '))
  // A plain text may go on in the next lines.
  return content.length > 0 ? parseScalar([rest, ...content].join(' ')) : parseScalar(rest)
}

function parseFlowList(text: string): Json {
  const inner = /^\[(.*)\]\s*$/s.exec(text)?.[1]
  if (inner === undefined) return text
  const items = inner.match(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^,(]|\([^)]*\))+/g) ?? []
  return items.map((item) => item.trim()).flatMap((item) => (item === '' ? [] : [parseScalar(item)]))
}

function parseScalar(text: string): Json {
  const trimmed = stripComment(text.trim())
  if (/^"(?:[^"\\]|\\.)*"$/s.test(trimmed)) {
    try {
      return JSON.parse(trimmed) as string
    } catch {
      return trimmed.slice(1, -1)
    }
  }
  if (/^'(?:[^']|'')*'$/s.test(trimmed)) return trimmed.slice(1, -1).replaceAll("''", "'")
  if (/^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true'
  if (/^(?:null|~)?$/.test(trimmed)) return null
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed
}

function stripComment(text: string): string {
  return /^["']/.test(text)
    ? text.replace(/^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s+#.*$/, '$1')
    : text.replace(/\s+#.*$/, '')
}

function removeIndent(block: readonly string[]): string {
  const indents = block.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
  const common = indents.length === 0 ? 0 : Math.min(...indents)
  return block.map((line) => line.slice(common)).join('\n')
}

/** Lines become one, and empty lines become line ends. */
function foldLines(lines: readonly string[]): string {
  return lines
    .join('\n')
    .trim()
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n')
}
