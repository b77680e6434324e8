import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { readRegularFile } from '../../host/files/regular-file.ts'
import { isObject } from '../../model/json.ts'
import { UserError } from '../user-error.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { dataFolderPath } from '../paths/folders.ts'
import { sha256Hex } from '../../host/files/sha256.ts'

/** What in a project can run something or send something elsewhere: only this is trusted, and only as it is now. */
const TRUST_RELEVANT_PATHS = ['.dragoman', '.mcp.json']

/** More than this is not settings, and is not trusted. */
const MAX_TRUSTED_FILES = 500
const MAX_TRUSTED_BYTES = 16 * 2 ** 20

/** Has the person trusted this folder, and are its settings still those that were trusted? */
export function isTrusted(folder: string): boolean {
  return readTrustState(folder) === 'trusted'
}

/** Whether a folder's settings are used: never asked, trusted as they are, changed since, or refused. */
export function readTrustState(folder: string): 'unknown' | 'trusted' | 'changed' | 'refused' {
  const storedHash = readTrustFile()[realpathSync(folder)]
  if (storedHash === undefined) return 'unknown'
  if (storedHash === REFUSED) return 'refused'
  return storedHash === hashSettings(folder) ? 'trusted' : 'changed'
}

/** Remembers what the person said about a folder. */
export function setTrust(folder: string, trusted: boolean | undefined): void {
  const newValue = trusted ? hashSettings(folder) : REFUSED
  if (newValue === undefined)
    throw new UserError(
      `what is in ${TRUST_RELEVANT_PATHS.join(' and ')} is too much, or cannot be read, and cannot be trusted`,
    )
  const newEntry = trusted === undefined ? {} : { [realpathSync(folder)]: newValue }
  updatePrivateFile(trustFilePath(), () => {
    const { [realpathSync(folder)]: _former, ...others } = readTrustFile()
    return `${JSON.stringify({ ...others, ...newEntry }, undefined, 2)}\n`
  })
}

/** The files of a folder that trust is about. */
export function listTrustRelevantFiles(folder: string): string[] {
  return TRUST_RELEVANT_PATHS.flatMap((name) => listFilesBelow(join(folder, name))).map((path) =>
    relative(folder, path),
  )
}

const REFUSED = 'refused'

function trustFilePath(): string {
  return join(dataFolderPath(), 'trust.json')
}

/** A damaged file trusts nobody. */
function readTrustFile(): Record<string, string> {
  try {
    const json: unknown = JSON.parse(readFileSync(trustFilePath(), 'utf8'))
    if (!isObject(json)) return {}
    return Object.fromEntries(
      Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return {}
  }
}

/** Nothing where not all of it can be read. */
function hashSettings(folder: string): string | undefined {
  const hash = createHash('sha256')
  const files = listTrustRelevantFiles(folder)
  if (files.length > MAX_TRUSTED_FILES) return undefined
  for (const path of files) {
    const content = hashContent(join(folder, path))
    if (content === undefined) return undefined
    hash.update(`${path}\0${content}\0`)
  }
  return hash.digest('hex')
}

/** A link is what it says and what it leads to: both may change what runs. */
function hashContent(path: string): string | undefined {
  const content = readRegularFile(path, { maxBytes: MAX_TRUSTED_BYTES })
  if (!lstatSync(path).isSymbolicLink()) return 'bytes' in content && !content.isCut ? sha256(content.bytes) : undefined
  const target = 'bytes' in content && !content.isCut ? sha256(content.bytes) : 'nothing to read'
  return sha256(`link to ${readlinkSync(path)}\0${target}`)
}

function sha256(content: string | Uint8Array): string {
  return sha256Hex(content)
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
