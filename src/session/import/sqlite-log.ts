const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** The pages that the write-ahead log of an SQLite database replaces: those of complete transactions, without a torn tail. */
export function readWriteAheadLog(log: Buffer): ReadonlyMap<number, Buffer> {
  const pages = new Map<number, Buffer>()
  if (log.length < HEADER_BYTES) return pages
  const magic = log.readUInt32BE(0)
  if (magic !== 0x377f0682 && magic !== 0x377f0683) return pages
  const isBigEndian = (magic & 1) === 1
  const pageSize = log.readUInt32BE(8)
  const salts = log.subarray(16, 24)
  let sums: Checksum = addChecksum(log.subarray(0, 24), isBigEndian, [0, 0])
  let pending: [number, Buffer][] = []
  const frameBytes = FRAME_HEADER_BYTES + pageSize
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    const head = log.subarray(at, at + FRAME_HEADER_BYTES)
    const page = log.subarray(at + FRAME_HEADER_BYTES, at + frameBytes)
    if (!head.subarray(8, 16).equals(salts)) break
    sums = addChecksum(page, isBigEndian, addChecksum(head.subarray(0, 8), isBigEndian, sums))
    if (head.readUInt32BE(16) !== sums[0] || head.readUInt32BE(20) !== sums[1]) break
    pending.push([head.readUInt32BE(0), page])
    // Only the last frame of a transaction has the size of the database.
    if (head.readUInt32BE(4) === 0) continue
    for (const [number, bytes] of pending) pages.set(number, bytes)
    pending = []
  }
  return pages
}

type Checksum = readonly [number, number]

function addChecksum(bytes: Buffer, isBigEndian: boolean, [one, two]: Checksum): Checksum {
  let [first, second] = [one, two]
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    const left = isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
    const right = isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)
    first = (first + left + second) >>> 0
    second = (second + right + first) >>> 0
  }
  return [first, second]
}
