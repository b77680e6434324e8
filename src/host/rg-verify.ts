import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Grip, gripFolder } from './grip.ts'
import type { Hit } from './host.ts'
import { toRaw } from './raw-name.ts'
import { reach } from './reach.ts'
import type { RgFile, RgHit } from './rg-output.ts'
import type { Roots } from './roots.ts'

/** Makes sure of what another program read. */
export interface Verifier {
  /** The lines that are really in this file, reached by our own steps; others are dropped. */
  hits(base: string, file: RgFile): Hit[]
  close(): void
}

/**
 * Reads the lines of a search again. A program that opens files by name can be led astray by somebody who exchanges names
 * while it runs; what it then found is not in our file, and never gets to the model.
 */
export function verifier(roots: Roots): Verifier {
  // Hits come folder by folder, so the folders on the way are held on to.
  const held = new Map<string, Held>()

  function folderOf(path: string, base: string): Held {
    const known = held.get(path)
    if (known) return known
    const found = path === base ? start(base) : gripFolder(`${folderOf(dirname(path), base).at}/${basename(path)}`)
    held.set(path, found)
    return found
  }

  const start = (base: string): Held =>
    reach(roots, base, { need: 'read' }, ({ found, keep }) => {
      if (!found?.stats.isDirectory()) throw new Error('no such folder')
      return keep(found)
    })

  function close(): void {
    for (const folder of held.values()) folder.release()
    held.clear()
  }

  return {
    hits(base, file) {
      const path = join(base, file.path)
      if (held.size > MAX_HELD) close()
      try {
        return sureHits(`${folderOf(dirname(path), base).at}/${basename(path)}`, path, file.hits)
      } catch {
        return []
      }
    },
    close,
  }
}

type Held = Pick<Grip, 'at' | 'release'>

const MAX_HELD = 200

function sureHits(at: string, path: string, hits: readonly RgHit[]): Hit[] {
  const descriptor = openSync(toRaw(at), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  let lines: string[] | undefined
  try {
    // What is no file cannot be read at a place in it, and is dropped for that.
    return hits
      .filter(
        (hit) => isThere(descriptor, hit) || (lines ??= decoded(descriptor))[hit.line - 1] === hit.bytes.toString(),
      )
      .map(({ line, bytes }) => ({ path, line, text: bytes.toString() }))
  } finally {
    closeSync(descriptor)
  }
}

function isThere(descriptor: number, { offset, bytes }: RgHit): boolean {
  // With what ends the line, so that something is read of an empty one too.
  const found = Buffer.allocUnsafe(bytes.length + 1)
  const read = readSync(descriptor, found, 0, found.length, offset)
  const next = read > bytes.length ? found[bytes.length] : LINE_END
  return read >= bytes.length && found.subarray(0, bytes.length).equals(bytes) && (next === LINE_END || next === RETURN)
}

const LINE_END = 0x0a
const RETURN = 0x0d

/** Files that begin with a byte order mark are searched as text, so their bytes are other ones. */
function decoded(descriptor: number): string[] {
  const { size } = fstatSync(descriptor)
  if (size > MAX_DECODED) return []
  const bytes = Buffer.alloc(size)
  readSync(descriptor, bytes, 0, size, 0)
  const encoding = bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes).split(/\r?\n/)
}

const MAX_DECODED = 64 * 2 ** 20
