import { readWriteAheadLog } from './sqlite-log.ts'

export type SqliteValue = string | number | bigint | null | Uint8Array
export type SqliteRow = Readonly<Record<string, SqliteValue>>

/** Tables of an SQLite database, for reading. */
export interface SqliteDatabase {
  /** The rows of a table, in the order of their row numbers; none if there is no such table. */
  readTable(name: string): Iterable<SqliteRow>
}

const HEADER = 'SQLite format 3\0'

export function isSqliteFile(bytes: Buffer): boolean {
  return bytes.subarray(0, HEADER.length).toString('latin1') === HEADER
}

/**
 * Opens a database from the bytes of its file, and of its write-ahead log if the program was not closed well. The format is
 * that of sqlite.org/fileformat2.html. Pages that are damaged are left out.
 */
export function openSqliteDatabase(file: Buffer, log?: Buffer): SqliteDatabase {
  const storedSize = file.length >= 18 ? file.readUInt16BE(16) : 0
  const pageSize = storedSize === 1 ? 65_536 : storedSize
  const changed = log ? readWriteAheadLog(log) : new Map<number, Buffer>()
  const reserved = file[20] ?? 0
  const readPage = (number: number): Buffer | undefined => {
    const page = changed.get(number) ?? file.subarray((number - 1) * pageSize, number * pageSize)
    return page.length === pageSize ? page : undefined
  }
  const source: PageSource = { readPage, usableSize: pageSize - reserved }
  return {
    *readTable(name) {
      const table = findTable(source, name)
      if (!table) return
      for (const values of readTree(source, table.root))
        yield Object.fromEntries(table.columns.map((column, at) => [column, values[at] ?? null]))
    },
  }
}

interface PageSource {
  readonly readPage: (number: number) => Buffer | undefined
  readonly usableSize: number
}

/** The first page is the root of the table of tables: type, name, table, root page, statement. */
function findTable(source: PageSource, name: string): { root: number; columns: string[] } | undefined {
  for (const [type, found, , root, sql] of readTree(source, 1))
    if (type === 'table' && found === name && typeof root === 'number' && typeof sql === 'string')
      return { root, columns: readColumnNames(sql) }
  return undefined
}

/** The names of the columns in a CREATE TABLE statement. */
function readColumnNames(sql: string): string[] {
  const body = sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf(')'))
  const pieces: string[] = ['']
  let depth = 0
  for (const character of body) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === ',' && depth === 0) pieces.push('')
    else pieces[pieces.length - 1] += character
  }
  return pieces
    .map((piece) => /^\s*["`[]?([^\s"`\]]+)/.exec(piece)?.[1] ?? '')
    .filter((word) => word !== '' && !/^(?:constraint|primary|foreign|unique|check)$/i.test(word))
}

const INTERIOR_PAGE = 5
const LEAF_PAGE = 13
const MAX_DEPTH = 40

/** The records of a table, in order. */
function* readTree(source: PageSource, root: number, depth = 0): Generator<readonly SqliteValue[]> {
  const page = source.readPage(root)
  if (!page || depth > MAX_DEPTH) return
  const start = root === 1 ? 100 : 0
  const type = page[start]
  if (type !== INTERIOR_PAGE && type !== LEAF_PAGE) return
  const count = page.readUInt16BE(start + 3)
  const pointers = start + (type === INTERIOR_PAGE ? 12 : 8)
  for (let cell = 0; cell < count; cell++) {
    const pointer = pointers + 2 * cell
    if (pointer + 2 > page.length) return
    const at = page.readUInt16BE(pointer)
    if (at + 4 > page.length) continue
    if (type === INTERIOR_PAGE) yield* readTree(source, page.readUInt32BE(at), depth + 1)
    else {
      const values = readCell(source, page, at)
      if (values) yield values
    }
  }
  if (type === INTERIOR_PAGE) yield* readTree(source, page.readUInt32BE(start + 8), depth + 1)
}

function readCell(source: PageSource, page: Buffer, at: number): readonly SqliteValue[] | undefined {
  const size = readVarint(page, at)
  const row = readVarint(page, size.end)
  const payload = readPayload(source, page, row.end, Number(size.value))
  return payload && readRecord(payload)
}

/** The part of a record that does not fit into its page is in a chain of other pages. */
function readPayload({ readPage, usableSize }: PageSource, page: Buffer, at: number, size: number): Buffer | undefined {
  const max = usableSize - 35
  if (size <= max) return page.subarray(at, at + size)
  const min = Math.floor(((usableSize - 12) * 32) / 255) - 23
  const wanted = min + ((size - min) % (usableSize - 4))
  const local = wanted <= max ? wanted : min
  const chunks = [page.subarray(at, at + local)]
  let left = size - local
  let next = page.readUInt32BE(at + local)
  while (left > 0) {
    const overflow = next === 0 ? undefined : readPage(next)
    if (!overflow) return undefined
    const chunk = overflow.subarray(4, 4 + Math.min(left, usableSize - 4))
    chunks.push(chunk)
    left -= chunk.length
    next = overflow.readUInt32BE(0)
  }
  return Buffer.concat(chunks)
}

function readRecord(payload: Buffer): SqliteValue[] | undefined {
  const header = readVarint(payload, 0)
  const values: SqliteValue[] = []
  let at = Number(header.value)
  for (let position = header.end; position < Number(header.value);) {
    const type = readVarint(payload, position)
    position = type.end
    const { value, length } = readValue(payload, at, Number(type.value))
    if (at + length > payload.length) return undefined
    values.push(value)
    at += length
  }
  return values
}

const INTEGER_SIZES = [0, 1, 2, 3, 4, 6, 8] as const

function readValue(payload: Buffer, at: number, type: number): { value: SqliteValue; length: number } {
  if (type === 0) return { value: null, length: 0 }
  if (type === 8 || type === 9) return { value: type - 8, length: 0 }
  const length = type === 7 ? 8 : type < 7 ? (INTEGER_SIZES[type] ?? 0) : Math.floor((type - 12) / 2)
  if (at + length > payload.length) return { value: null, length }
  if (type === 7) return { value: payload.readDoubleBE(at), length }
  if (type === 6) {
    const value = payload.readBigInt64BE(at)
    return { value: Number.isSafeInteger(Number(value)) ? Number(value) : value, length }
  }
  if (type < 7) return { value: payload.readIntBE(at, length), length }
  const bytes = payload.subarray(at, at + length)
  return { value: type % 2 === 1 ? bytes.toString('utf8') : new Uint8Array(bytes), length }
}

/** Seven bits a byte, the last of at most nine bytes has eight. */
function readVarint(bytes: Buffer, at: number): { value: bigint; end: number } {
  let value = 0n
  for (let index = 0; index < 9; index++) {
    const byte = bytes[at + index] ?? 0
    if (index === 8) return { value: (value << 8n) | BigInt(byte), end: at + 9 }
    value = (value << 7n) | BigInt(byte & 0x7f)
    if (byte < 0x80) return { value, end: at + index + 1 }
  }
  return { value, end: at + 9 }
}
