import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { readRegularFile } from '../../host/files/regular-file.ts'
import { objectOrEmpty } from '../../model/json.ts'
import { UserError } from '../user-error.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { getDataFolder } from '../paths/folders.ts'
import { sha256Hex } from '../../host/files/sha256.ts'

/** The files of a project that can run programs or send data: only these are trusted, and only as they are now. */
const TRUST_RELEVANT_PATHS = ['.dragoman', '.mcp.json']

/** More than this cannot be trusted. */
const MAX_TRUSTED_FILES = 500
const MAX_TRUSTED_BYTES = 16 * 2 ** 20

/** Did the user trust this folder, and are its settings unchanged since? */
export function isTrusted(folder: string): boolean {
  return readTrustState(folder) === 'trusted'
}

/** `unknown`: the user has not decided yet. */
type TrustState = 'unknown' | 'trusted' | 'changed' | 'refused'

export const TRUST_DESCRIPTIONS: Readonly<Record<TrustState, string>> = {
  unknown: 'not trusted yet',
  trusted: 'trusted as it is now',
  changed: 'no longer trusted, because its settings have changed',
  refused: 'not trusted (you refused)',
}

export function readTrustState(folder: string): TrustState {
  const storedHash = readTrustFile()[realpathSync(folder)]
  if (storedHash === undefined) return 'unknown'
  if (storedHash === REFUSED) return 'refused'
  return storedHash === hashSettings(folder) ? 'trusted' : 'changed'
}

/** Stores the user's decision about a folder; undefined removes it. */
export function saveFolderTrust(folder: string, trusted: boolean | undefined): void {
  const newValue = trusted ? hashSettings(folder) : REFUSED
  if (newValue === undefined)
    throw new UserError(
      `${TRUST_RELEVANT_PATHS.join(' and ')} cannot be trusted: there are too many files, or some cannot be read`,
    )
  const newEntry = trusted === undefined ? {} : { [realpathSync(folder)]: newValue }
  updatePrivateFile(trustFilePath(), () => {
    const { [realpathSync(folder)]: _former, ...others } = readTrustFile()
    return `${JSON.stringify({ ...others, ...newEntry }, undefined, 2)}\n`
  })
}

export function listTrustFiles(folder: string): string[] {
  const files = TRUST_RELEVANT_PATHS.flatMap((name) => listFilesBelow(join(folder, name)))
  return files.map((path) => relative(folder, path))
}

const REFUSED = 'refused'

function trustFilePath(): string {
  return join(getDataFolder(), 'trust.json')
}

/** A damaged file trusts no folder. */
function readTrustFile(): Record<string, string> {
  try {
    const json: unknown = JSON.parse(readFileSync(trustFilePath(), 'utf8'))
    const entries = Object.entries(objectOrEmpty(json))
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch {
    return {}
  }
}

/** Undefined if not all of it can be read. */
function hashSettings(folder: string): string | undefined {
  const hash = createHash('sha256')
  const files = listTrustFiles(folder)
  if (files.length > MAX_TRUSTED_FILES) return undefined
  for (const path of files) {
    const content = hashContent(join(folder, path))
    if (content === undefined) return undefined
    hash.update(`${path}\0${content}\0`)
  }
  return hash.digest('hex')
}

/** Of a link, both its path and its target count: either may change what runs. */
function hashContent(path: string): string | undefined {
  const content = readRegularFile(path, { maxBytes: MAX_TRUSTED_BYTES })
  const hash = 'bytes' in content && !content.isCut ? sha256Hex(content.bytes) : undefined
  return lstatSync(path).isSymbolicLink()
    ? sha256Hex(`link to ${readlinkSync(path)}\0${hash ?? 'nothing to read'}`)
    : hash
}

function listFilesBelow(path: string): string[] {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (!info) return []
  if (!info.isDirectory()) return info.isFile() || info.isSymbolicLink() ? [path] : []
  return readdirSync(path)
    .sort()
    .flatMap((name) => listFilesBelow(join(path, name)))
    .slice(0, MAX_TRUSTED_FILES + 1)
}
