/** The values of a YAML front matter that commands, skills and subagents use: strings and lists of strings. */
export type FrontMatterFields = Readonly<Record<string, string | readonly string[]>>

export interface FrontMatter {
  readonly fields: FrontMatterFields
  /** The text after it. */
  readonly body: string
}

/**
 * Reads the YAML front matter of a Markdown file, as far as such files use YAML: scalars, quoted or not, block texts (`|`,
 * `>`), and lists. What it does not understand (nested maps, anchors) is left out, never guessed. Without a front matter, all
 * of the text is the body.
 */
export function parseFrontMatter(text: string): FrontMatter {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const match = /^---[ \t]*\n(?<head>(?:[^]*?\n)?)---[ \t]*(?:\n(?<body>[^]*))?$/.exec(plain)?.groups
  if (!match) return { fields: {}, body: plain }
  return { fields: parseFields((match['head'] ?? '').split('\n')), body: match['body'] ?? '' }
}

/** The text of a field; a list is joined by commas. */
export function getTextField(fields: FrontMatterFields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  const text = typeof value === 'object' ? value.join(', ') : value
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}

/** The arguments of a command as they were written: `[number]` is a list in YAML. */
export function getArgumentHint(fields: FrontMatterFields): string | undefined {
  const text = getTextField(fields, 'argument-hint')
  return text !== undefined && typeof fields['argument-hint'] === 'object' ? `[${text}]` : text
}

/** The items of a field: a YAML list, or a text with commas between its items (none inside brackets). */
export function getListField(fields: FrontMatterFields, name: string): readonly string[] {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (typeof value === 'object') return value
  return splitOutsideBrackets(value ?? '')
}

function splitOutsideBrackets(text: string): string[] {
  const items = text.match(/(?:[^,([{]|\([^)]*\)|\[[^\]]*\]|\{[^}]*\}|[([{])+/g) ?? []
  return items.map((item) => item.trim()).filter((item) => item !== '')
}

function parseFields(lines: readonly string[]): FrontMatterFields {
  const fields: Record<string, string | readonly string[]> = {}
  for (let at = 0; at < lines.length; at++) {
    const { key, rest = '' } =
      /^(?<key>[A-Za-z][\w.-]*)[ \t]*:(?:[ \t]+(?<rest>.*))?$/.exec(lines[at] ?? '')?.groups ?? {}
    if (key === undefined) continue
    const block: string[] = []
    while (at + 1 < lines.length && /^(?:[ \t]|$|-(?:[ \t]|$))/.test(lines[at + 1] ?? '')) block.push(lines[++at] ?? '')
    const value = parseValue(rest.trim(), block)
    if (value !== undefined) Object.defineProperty(fields, key, { value, enumerable: true, configurable: true })
  }
  return fields
}

function parseValue(rest: string, block: readonly string[]): string | readonly string[] | undefined {
  const style = /^(?<style>[|>])[+-]?\d?(?:[ \t]+#.*)?$/.exec(rest)?.groups?.['style']
  if (style !== undefined) return parseBlockText(block, style === '>')
  // `[number] [priority]` is no list, but the arguments of a command.
  if (rest.startsWith('[') && !/\][ \t]*[^#\s,]/.test(rest.replaceAll(/\([^)]*\)/g, '')))
    return parseInlineList([rest, ...block].join(' '))
  const items = block.filter((line) => line.trim() !== '')
  if (rest === '' || rest.startsWith('#')) {
    if (items.length === 0) return ''
    if (items.every((line) => /^[ \t]*-(?:[ \t]|$)/.test(line)))
      return items.map((line) => parseScalar(line.replace(/^[ \t]*-[ \t]*/, ''))).filter((item) => item !== '')
    return undefined
  }
  // A plain text may go on in the next lines.
  return parseScalar([rest, ...items.map((line) => line.trim())].join(' '))
}

function parseBlockText(block: readonly string[], isFolded: boolean): string {
  const indent = Math.min(
    ...block.filter((line) => line.trim() !== '').map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0),
  )
  const lines = block.map((line) => line.slice(Number.isFinite(indent) ? indent : 0))
  return (isFolded ? lines.join('\n').replaceAll(/(?<!\n)\n(?!\n)/g, ' ') : lines.join('\n')).trim()
}

function parseInlineList(text: string): string[] {
  const inside = /^\[(?<inside>[^]*)\]/.exec(text)?.groups?.['inside'] ?? ''
  const items = inside.match(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?:[^,()]|\([^)]*\))+/g) ?? []
  return items.map((item) => parseScalar(item.trim())).filter((item) => item !== '')
}

function parseScalar(text: string): string {
  const { double, single } =
    /^(?:"(?<double>(?:[^"\\]|\\.)*)"|'(?<single>(?:[^']|'')*)')[ \t]*(?:#.*)?$/.exec(text)?.groups ?? {}
  if (double !== undefined) return double.replaceAll(/\\(.)/g, (_whole, one: string) => ESCAPES[one] ?? one)
  if (single !== undefined) return single.replaceAll("''", "'")
  return text.replace(/[ \t]+#.*$/, '').trim()
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0' }
