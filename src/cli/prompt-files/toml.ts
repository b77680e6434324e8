/** A value of TOML; dates stay texts. */
export type TomlValue = string | number | boolean | readonly TomlValue[] | TomlTable

export interface TomlTable {
  [key: string]: TomlValue
}

/** Reads TOML, as commands of Gemini CLI and settings of Codex use it. Throws an error that names the line. */
export function parseToml(text: string): TomlTable {
  const reader = createReader(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'))
  const root: TomlTable = {}
  let table = root
  for (;;) {
    reader.skipBlank()
    if (reader.isAtEnd()) return root
    if (reader.takeIf('[[')) {
      const path = readKeyPath(reader)
      reader.expect(']]')
      table = appendTable(root, path, reader)
    } else if (reader.takeIf('[')) {
      const path = readKeyPath(reader)
      reader.expect(']')
      table = openTable(root, path, reader)
    } else readPair(reader, table)
    reader.endLine()
  }
}

type Reader = ReturnType<typeof createReader>

function createReader(text: string) {
  let at = 0
  const fail = (what: string): never => {
    throw new Error(`line ${text.slice(0, at).split('\n').length}: ${what}`)
  }
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (!found) return undefined
    at += found[0].length
    return found
  }
  return {
    fail,
    match,
    isAtEnd: () => at >= text.length,
    skipBlank: () => void match(/(?:[ \t\n]|#[^\n]*)*/y),
    skipSpaces: () => void match(/[ \t]*/y),
    takeIf: (word: string): boolean => text.startsWith(word, at) && ((at += word.length), true),
    expect(word: string): void {
      match(/[ \t]*/y)
      if (text.startsWith(word, at)) at += word.length
      else fail(`“${word}” is missing`)
    },
    endLine(): void {
      if (!match(/[ \t]*(?:#[^\n]*)?(?:\n|$)/y)) fail('there is something after the value')
    },
  }
}

function readPair(reader: Reader, table: TomlTable): void {
  const path = readKeyPath(reader)
  reader.expect('=')
  reader.skipSpaces()
  const name = path.pop() ?? ''
  setOwn(openTable(table, path, reader), name, readValue(reader), reader)
}

function readKeyPath(reader: Reader): string[] {
  const path: string[] = []
  do {
    reader.skipSpaces()
    const bare = reader.match(/[\w-]+/y)?.[0]
    path.push(bare ?? readString(reader) ?? reader.fail('a key is missing'))
    reader.skipSpaces()
  } while (reader.takeIf('.'))
  return path
}

function openTable(root: TomlTable, path: readonly string[], reader: Reader): TomlTable {
  let table = root
  for (const key of path) {
    if (!Object.hasOwn(table, key)) setOwn(table, key, {}, reader)
    const next = table[key]
    const last = Array.isArray(next) ? (next.at(-1) as TomlValue) : next
    if (!isTable(last)) return reader.fail(`“${key}” is not a table`)
    table = last
  }
  return table
}

function appendTable(root: TomlTable, path: string[], reader: Reader): TomlTable {
  const name = path.pop() ?? ''
  const parent = openTable(root, path, reader)
  if (!Object.hasOwn(parent, name)) setOwn(parent, name, [], reader)
  const list = parent[name]
  if (!Array.isArray(list)) return reader.fail(`“${name}” is not a list of tables`)
  const table: TomlTable = {}
  ;(list as TomlValue[]).push(table)
  return table
}

function setOwn(table: TomlTable, key: string, value: TomlValue, reader: Reader): void {
  if (Object.hasOwn(table, key)) reader.fail(`“${key}” is there twice`)
  Object.defineProperty(table, key, { value, enumerable: true, writable: true, configurable: true })
}

function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value)
}

function readValue(reader: Reader): TomlValue {
  const text = readString(reader)
  if (text !== undefined) return text
  if (reader.takeIf('[')) return readItems(reader, ']', () => readValue(reader))
  if (reader.takeIf('{')) {
    const table: TomlTable = {}
    readItems(reader, '}', () => readPair(reader, table))
    return table
  }
  const word = reader.match(/[^\s,\]}#]+(?: \d[\d:.]*)?/y)?.[0] ?? reader.fail('a value is missing')
  if (word === 'true' || word === 'false') return word === 'true'
  const number = Number(word.replaceAll('_', ''))
  return /^[+-]?(?:\d|0[xob]|inf|nan)/.test(word) && Number.isFinite(number) ? number : word
}

function readItems<T>(reader: Reader, end: string, readItem: () => T): T[] {
  const items: T[] = []
  for (;;) {
    reader.skipBlank()
    if (reader.takeIf(end)) return items
    if (reader.isAtEnd()) return reader.fail(`“${end}” is missing`)
    items.push(readItem())
    reader.skipBlank()
    if (reader.takeIf(',')) continue
    reader.expect(end)
    return items
  }
}

function readString(reader: Reader): string | undefined {
  const multiline = reader.match(/"""\n?((?:[^"\\]|\\[^]|"(?!""))*"{0,2})"""/y)
  if (multiline) return unescape((multiline[1] ?? '').replaceAll(/\\[ \t]*\n\s*/g, ''))
  const literalBlock = reader.match(/'''\n?((?:[^']|'(?!''))*'{0,2})'''/y)
  if (literalBlock) return literalBlock[1] ?? ''
  const basic = reader.match(/"((?:[^"\\\n]|\\.)*)"/y)
  if (basic) return unescape(basic[1] ?? '')
  return reader.match(/'([^'\n]*)'/y)?.[1]
}

function unescape(text: string): string {
  return text.replaceAll(
    /\\(?:u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|([^]))/g,
    (whole, four?: string, eight?: string, one?: string) => {
      if (one !== undefined) return ESCAPES[one] ?? one
      const code = Number.parseInt(four ?? eight ?? '', 16)
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole
    },
  )
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', e: '\u001B' }
