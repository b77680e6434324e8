import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { readOrdinaryFile } from '../../host/ordinary-file.ts'
import { isObject } from '../../model/json.ts'
import { Complaint } from '../exit.ts'
import { changeOwnFile } from '../own/file.ts'
import { dataFolder } from '../own/places.ts'

/** What in a project can run something or send something elsewhere: only this is trusted, and only as it is now. */
const WATCHED = ['.dragoman', '.mcp.json']

/** More than this is not settings, and is not trusted. */
const MOST_FILES = 500
const MAX_BYTES = 16 * 2 ** 20

/** Has the person trusted this folder, and are its settings still those that were trusted? */
export function isTrusted(folder: string): boolean {
  return trustOf(folder) === 'trusted'
}

/** Whether a folder's settings are used: never asked, trusted as they are, changed since, or refused. */
export function trustOf(folder: string): 'unknown' | 'trusted' | 'changed' | 'refused' {
  const known = readTrust()[realpathSync(folder)]
  if (known === undefined) return 'unknown'
  if (known === REFUSED) return 'refused'
  return known === settingsHash(folder) ? 'trusted' : 'changed'
}

/** Remembers what the person said about a folder. */
export function setTrust(folder: string, trusted: boolean | undefined): void {
  const answer = trusted ? settingsHash(folder) : REFUSED
  if (answer === undefined)
    throw new Complaint(`what is in ${WATCHED.join(' and ')} is too much, or cannot be read, and cannot be trusted`)
  const said = trusted === undefined ? {} : { [realpathSync(folder)]: answer }
  changeOwnFile(trustFile(), () => {
    const { [realpathSync(folder)]: _former, ...others } = readTrust()
    return `${JSON.stringify({ ...others, ...said }, undefined, 2)}\n`
  })
}

/** The files of a folder that trust is about. */
export function watchedFiles(folder: string): string[] {
  return WATCHED.flatMap((name) => filesAt(join(folder, name))).map((path) => relative(folder, path))
}

const REFUSED = 'refused'

function trustFile(): string {
  return join(dataFolder(), 'trust.json')
}

/** A damaged file trusts nobody. */
function readTrust(): Record<string, string> {
  try {
    const json: unknown = JSON.parse(readFileSync(trustFile(), 'utf8'))
    if (!isObject(json)) return {}
    return Object.fromEntries(
      Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return {}
  }
}

/** Nothing where not all of it can be read. */
function settingsHash(folder: string): string | undefined {
  const hash = createHash('sha256')
  const files = watchedFiles(folder)
  if (files.length > MOST_FILES) return undefined
  for (const path of files) {
    const content = contentHash(join(folder, path))
    if (content === undefined) return undefined
    hash.update(`${path}\0${content}\0`)
  }
  return hash.digest('hex')
}

/** A link is what it says and what it leads to: both may change what runs. */
function contentHash(path: string): string | undefined {
  const content = readOrdinaryFile(path, { maxBytes: MAX_BYTES })
  if (!lstatSync(path).isSymbolicLink()) return 'bytes' in content && !content.isCut ? sha256(content.bytes) : undefined
  const target = 'bytes' in content && !content.isCut ? sha256(content.bytes) : 'nothing to read'
  return sha256(`link to ${readlinkSync(path)}\0${target}`)
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

function filesAt(path: string): string[] {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (!info) return []
  if (!info.isDirectory()) return info.isFile() || info.isSymbolicLink() ? [path] : []
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesAt(join(path, name)))
    .slice(0, MOST_FILES + 1)
}
