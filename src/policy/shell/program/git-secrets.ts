import { posix } from 'node:path'
import { type Disk, NO_DISK } from '../../disk.ts'
import { isSecretPath } from '../../path/below.ts'
import { isWithin, type Places } from '../../path/place.ts'
import type { GivenWords } from './form.ts'
import { repositoriesOf } from './repository.ts'

/**
 * Says which file with secrets git would show: one that is tracked, and not left out by the paths that were given. What was
 * tracked only in the past is not known.
 */
export function trackedSecret(given: GivenWords, folder: string, places: Places): string | undefined {
  const { disk = NO_DISK } = places
  // What was stashed may hold files that were never tracked.
  if (given.operands.some((word) => /stash/.test(word))) return 'what was stashed may hold secrets'
  for (const { top, own } of repositoriesOf(folder, disk)) {
    const limits = limitsOf(given, folder, top, disk)
    const shared = (disk.list(own) ?? []).filter(({ name }) => name.startsWith('sharedindex.'))
    for (const name of ['index', ...shared.map((entry) => entry.name)]) {
      const bytes = disk.read(posix.join(own, name))
      const paths = bytes ? namesIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) : []
      if (!paths) return 'the index of the repository is not understood'
      const secret = paths
        .map((path) => posix.join(top, path))
        .find((path) => (limits?.some((limit) => isWithin(path, limit)) ?? true) && isSecretPath(path, places))
      if (secret !== undefined) return `it may show ${secret}, which usually holds secrets`
    }
  }
  return undefined
}

/** The paths that git limits itself to, counted as git counts them; nothing if it may show everything. */
function limitsOf(
  { after, operands, paths }: GivenWords,
  folder: string,
  top: string,
  disk: Disk,
): readonly string[] | undefined {
  if (after) {
    // Before `--` stand only revisions. A tree among them (`HEAD:src`) gives the paths another beginning.
    const isPlain = after.length > 0 && !operands.some((word) => word.includes(':'))
    return isPlain && after.every(isLiteral) ? after.map((word) => posix.resolve(folder, word)) : undefined
  }
  if (paths.some((word) => word.includes(':'))) {
    // `HEAD:src` is a file or a tree, from the top of the repository; `HEAD^{/fix: it}` is a commit.
    const named = paths.map((word) => /^[^:{}]+:([^:]+)$/.exec(word)?.[1])
    const known = named.filter((word) => word !== undefined)
    if (known.length < named.length) return undefined
    return known.map((word) => posix.resolve(/^\.\.?(?:\/|$)/.test(word) ? folder : top, word))
  }
  const named = paths.filter((word) => disk.kind(posix.resolve(folder, word)))
  return named.length > 0 && named.every(isLiteral) ? named.map((word) => posix.resolve(folder, word)) : undefined
}

function isLiteral(word: string): boolean {
  return !/[*?[\\]/.test(word)
}

/** The names in an index of git, version 2 to 4; nothing if it is something else. */
function namesIn(index: Buffer): string[] | undefined {
  if (index.length < 12 || index.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = index.readUInt32BE(4)
  const count = index.readUInt32BE(8)
  if (version < 2 || version > 4) return undefined
  const names: string[] = []
  let at = 12
  let before = Buffer.alloc(0)
  for (let entry = 0; entry < count; entry++) {
    if (at + FIXED > index.length) return undefined
    const isExtended = (index.readUInt16BE(at + FIXED - 2) & 0x4000) !== 0
    let from = at + FIXED + (isExtended ? 2 : 0)
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
    names.push(before.toString('utf8'))
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7)
  }
  return names
}

/** What stands before a name: times, owner, size, hash, flags. */
const FIXED = 62

/** A number as git writes offsets. */
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
