/** A file, or a repository inside a repository, that a git index lists. */
interface IndexEntry {
  /** From the top of the repository. */
  readonly name: Buffer
  readonly isRepository: boolean
}

/** The entries of a git index, version 2 to 4, with SHA-1 or SHA-256; undefined if it is not one. */
export function parseGitIndexEntries(index: Buffer): IndexEntry[] | undefined {
  if (index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = index.readUInt32BE(4)
  if (version < 2 || version > 4) return undefined
  return HASHES.map((length) => entriesWith(index, version, length)).find((entries) => entries !== undefined)
}

/** The lengths of SHA-1 and SHA-256. An index does not say which it uses; only one fits the lengths of the names. */
const HASHES = [20, 32]
/** Before the hash: times, owner, size. */
const BEFORE_HASH = 40
const MODE = 24
const REPOSITORY = 0o160000
const MAX_STATED = 0xfff

function entriesWith(index: Buffer, version: number, hash: number): IndexEntry[] | undefined {
  const count = index.readUInt32BE(8)
  const fixed = BEFORE_HASH + hash + 2
  const entries: IndexEntry[] = []
  let at = 12
  let before = Buffer.alloc(0)
  for (let entry = 0; entry < count; entry++) {
    if (at + fixed > index.length) return undefined
    const flags = index.readUInt16BE(at + fixed - 2)
    const isExtended = (flags & 0x4000) !== 0
    let from = at + fixed + (isExtended ? 2 : 0)
    let kept = before.subarray(0, 0)
    if (version === 4) {
      const { value, next } = varint(index, from)
      if (value > before.length) return undefined
      kept = before.subarray(0, before.length - value)
      from = next
    }
    const end = index.indexOf(0, from)
    if (end < 0) return undefined
    before = Buffer.concat([kept, index.subarray(from, end)])
    const stated = flags & MAX_STATED
    if (stated < MAX_STATED ? stated !== before.length : before.length < MAX_STATED) return undefined
    entries.push({ name: before, isRepository: index.readUInt32BE(at + MODE) === REPOSITORY })
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7)
  }
  return entries
}

/** A number in git's variable-length encoding of offsets. */
function varint(bytes: Buffer, from: number): { value: number; next: number } {
  let next = from
  let byte = bytes[next++] ?? 0
  let value = byte & 127
  while ((byte & 128) !== 0 && next < bytes.length) {
    byte = bytes[next++] ?? 0
    value = (value + 1) * 128 + (byte & 127)
  }
  return { value, next }
}
