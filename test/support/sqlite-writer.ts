type Value = string | number | null
type Rows = readonly Readonly<Record<string, Value>>[]

const PAGE = 1024
/** The most bytes of a record that stay in its page. */
const MAX_LOCAL = PAGE - 35
const MIN_LOCAL = Math.floor(((PAGE - 12) * 32) / 255) - 23

/** Writes an SQLite database: one leaf page for a table, or several below an interior page, and overflow pages. */
export function writeSqlite(tables: Readonly<Record<string, Rows>>): Buffer {
  const pages: Buffer[] = [Buffer.alloc(PAGE)]
  const addPage = (page: Buffer): number => pages.push(page)
  const schema = Object.entries(tables).map(([name, rows]) => {
    const columns = Object.keys(rows[0] ?? {})
    const root = writeTable(
      rows.map((row) => columns.map((column) => row[column] ?? null)),
      addPage,
    )
    const sql = `CREATE TABLE \`${name}\` (${columns.map((column) => `\`${column}\` text NOT NULL`).join(', ')}, CONSTRAINT \`fk\` FOREIGN KEY (\`id\`) REFERENCES \`x\`(\`a\`, \`b\`))`
    return ['table', name, name, root, sql]
  })
  const first = writeLeaf(
    schema.map((row, at) => writeCell(at + 1, row, addPage)),
    100,
  )
  first.write('SQLite format 3\0', 0, 'latin1')
  first.writeUInt16BE(PAGE, 16)
  first.set([2, 2, 0, 64, 32, 32], 18)
  pages[0] = first
  return Buffer.concat(pages)
}

/** A write-ahead log that holds all pages of a database, as after a process that did not close it. */
export function writeWriteAheadLog(database: Buffer): Buffer {
  const header = Buffer.alloc(32)
  header.writeUInt32BE(0x377f0682, 0)
  header.writeUInt32BE(3_007_000, 4)
  header.writeUInt32BE(PAGE, 8)
  header.writeUInt32BE(71, 16)
  header.writeUInt32BE(72, 20)
  let sums = checksum(header.subarray(0, 24), [0, 0])
  header.writeUInt32BE(sums[0], 24)
  header.writeUInt32BE(sums[1], 28)
  const count = database.length / PAGE
  const frames = Array.from({ length: count }, (_, at) => {
    const head = Buffer.alloc(24)
    head.writeUInt32BE(at + 1, 0)
    head.writeUInt32BE(at + 1 === count ? count : 0, 4)
    head.writeUInt32BE(71, 8)
    head.writeUInt32BE(72, 12)
    const page = database.subarray(at * PAGE, (at + 1) * PAGE)
    sums = checksum(page, checksum(head.subarray(0, 8), sums))
    head.writeUInt32BE(sums[0], 16)
    head.writeUInt32BE(sums[1], 20)
    return Buffer.concat([head, page])
  })
  return Buffer.concat([header, ...frames])
}

function checksum(bytes: Buffer, [one, two]: readonly [number, number]): [number, number] {
  let [a, b] = [one, two]
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + bytes.readUInt32LE(at) + b) >>> 0
    b = (b + bytes.readUInt32LE(at + 4) + a) >>> 0
  }
  return [a, b]
}

function writeTable(rows: readonly (readonly Value[])[], addPage: (page: Buffer) => number): number {
  const groups: Buffer[][] = [[]]
  for (const [at, row] of rows.entries()) {
    const cell = writeCell(at + 1, row, addPage)
    const used = (groups.at(-1) ?? []).reduce((sum, one) => sum + one.length + 2, 8)
    if (used + cell.length + 2 > PAGE) groups.push([])
    groups.at(-1)?.push(cell)
  }
  const leaves = groups.map((cells) => addPage(writeLeaf(cells, 0)))
  if (leaves.length === 1) return leaves[0] ?? 0
  const interior = Buffer.alloc(PAGE)
  interior[0] = 5
  interior.writeUInt16BE(leaves.length - 1, 3)
  interior.writeUInt32BE(leaves.at(-1) ?? 0, 8)
  for (const [at, leaf] of leaves.slice(0, -1).entries()) {
    const cell = Buffer.concat([Buffer.alloc(4), varint(at + 1)])
    cell.writeUInt32BE(leaf, 0)
    const place = PAGE - 8 * (at + 1)
    cell.copy(interior, place)
    interior.writeUInt16BE(place, 12 + 2 * at)
  }
  return addPage(interior)
}

function writeLeaf(cells: readonly Buffer[], start: number): Buffer {
  const page = Buffer.alloc(PAGE)
  page[start] = 13
  page.writeUInt16BE(cells.length, start + 3)
  let end = PAGE
  for (const [at, cell] of cells.entries()) {
    end -= cell.length
    cell.copy(page, end)
    page.writeUInt16BE(end, start + 8 + 2 * at)
  }
  return page
}

function writeCell(row: number, values: readonly Value[], addPage: (page: Buffer) => number): Buffer {
  const payload = writeRecord(values)
  const head = Buffer.concat([varint(payload.length), varint(row)])
  if (payload.length <= MAX_LOCAL) return Buffer.concat([head, payload])
  const wanted = MIN_LOCAL + ((payload.length - MIN_LOCAL) % (PAGE - 4))
  const local = wanted <= MAX_LOCAL ? wanted : MIN_LOCAL
  const chunks: Buffer[] = []
  for (let at = local; at < payload.length; at += PAGE - 4) chunks.push(payload.subarray(at, at + PAGE - 4))
  let next = 0
  for (const chunk of chunks.toReversed()) {
    const page = Buffer.alloc(PAGE)
    page.writeUInt32BE(next, 0)
    chunk.copy(page, 4)
    next = addPage(page)
  }
  const pointer = Buffer.alloc(4)
  pointer.writeUInt32BE(next, 0)
  return Buffer.concat([head, payload.subarray(0, local), pointer])
}

function writeRecord(values: readonly Value[]): Buffer {
  const types: Buffer[] = []
  const bodies: Buffer[] = []
  for (const value of values) {
    if (value === null) types.push(varint(0))
    else if (typeof value === 'number') {
      const body = Buffer.alloc(8)
      body.writeBigInt64BE(BigInt(value))
      types.push(varint(6))
      bodies.push(body)
    } else {
      const body = Buffer.from(value)
      types.push(varint(13 + 2 * body.length))
      bodies.push(body)
    }
  }
  const length = types.reduce((sum, type) => sum + type.length, 1)
  return Buffer.concat([varint(length), ...types, ...bodies])
}

function varint(value: number): Buffer {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return Buffer.from(bytes)
}
