import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type FolderHandle, openFolderHandle } from '../files/path-handle.ts'
import type { SearchMatch } from '../host.ts'
import { encodeSurrogateEscape } from '../files/surrogate-escape.ts'
import { withOpenedPath } from '../files/opened-path.ts'
import { CARRIAGE_RETURN, LINE_FEED, type RipgrepFile, type RipgrepMatch } from './ripgrep-output.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * Reads the matches of a search again. A program that opens files by name can be misled by an exchange of names while it
 * runs; such matches are not in our file, and never reach the model.
 */
export function createMatchVerifier(roots: AllowedRoots) {
  // Matches come folder by folder, so the folders on the way are kept open.
  const openFolders = new Map<string, FolderHandle>()

  function openFolder(path: string, base: string): FolderHandle {
    const known = openFolders.get(path)
    if (known) return known
    const found =
      path === base ? openBase(base) : openFolderHandle(`${openFolder(dirname(path), base).at}/${basename(path)}`)
    openFolders.set(path, found)
    return found
  }

  const openBase = (base: string): FolderHandle =>
    withOpenedPath(roots, base, { need: 'read' }, ({ entry, keep }) => {
      if (!entry?.stats.isDirectory()) throw new Error('no such folder')
      return keep(entry)
    })

  function close(): void {
    for (const folder of openFolders.values()) folder.release()
    openFolders.clear()
  }

  return {
    /** The lines that are really in this file, opened by our own steps; others are dropped. */
    verify(base: string, file: RipgrepFile): SearchMatch[] {
      const path = join(base, file.path)
      if (openFolders.size > MAX_OPEN_FOLDERS) close()
      return (
        tryOrUndefined(() =>
          verifyMatches(`${openFolder(dirname(path), base).at}/${basename(path)}`, path, file.matches),
        ) ?? []
      )
    },
    close,
  }
}

const MAX_OPEN_FOLDERS = 200

function verifyMatches(at: string, path: string, matches: readonly RipgrepMatch[]): SearchMatch[] {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const descriptor = openSync(encodeSurrogateEscape(at), flags)
  let lines: string[] | undefined
  try {
    // Something that is not a file cannot be read at an offset, and is dropped.
    return matches
      .filter(
        (match) =>
          isAtOffset(descriptor, match) ||
          (lines ??= readDecodedLines(descriptor))[match.line - 1] === match.bytes.toString(),
      )
      .map(({ line, bytes }) => ({ path, line, text: bytes.toString() }))
  } finally {
    closeSync(descriptor)
  }
}

function isAtOffset(descriptor: number, { offset, bytes }: RipgrepMatch): boolean {
  // With the byte after it, so that something is read even for an empty line.
  const found = Buffer.allocUnsafe(bytes.length + 1)
  const read = readSync(descriptor, found, 0, found.length, offset)
  const next = read > bytes.length ? found[bytes.length] : LINE_FEED
  return (
    read >= bytes.length &&
    found.subarray(0, bytes.length).equals(bytes) &&
    (next === LINE_FEED || next === CARRIAGE_RETURN)
  )
}

/** Files with a byte order mark are searched as decoded text, so their bytes differ. */
function readDecodedLines(descriptor: number): string[] {
  const { size } = fstatSync(descriptor)
  if (size > MAX_DECODED_BYTES) return []
  const bytes = Buffer.alloc(size)
  readSync(descriptor, bytes, 0, size, 0)
  const encoding = bytes[0] === 0xff ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes).split(/\r?\n/)
}

const MAX_DECODED_BYTES = 64 * 2 ** 20
