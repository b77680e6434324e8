import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, objectOrEmpty } from '../../model/json.ts'
import { UserError } from '../user-error.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { readProjectText, type ProjectFileProblem } from '../paths/project-file.ts'
import { getDataFolder } from '../paths/folders.ts'
import {
  listProjectFiles,
  MAX_TRUSTED_FILES,
  readWithDigest,
  type ProjectFile,
  type ProjectFileKind,
} from './project-files.ts'

/** Did the user trust this folder, and are its files, or those of one kind, unchanged since? */
export function isTrusted(folder: string, kind?: ProjectFileKind): boolean {
  const { state } = readFolderTrust(folder, kind)
  return state === 'trusted'
}

/** `unknown`: the user has not decided yet. */
type TrustState = 'unknown' | 'trusted' | 'changed' | 'refused'

export const TRUST_DESCRIPTIONS: Readonly<Record<TrustState, string>> = {
  unknown: 'not trusted yet',
  trusted: 'trusted as it is now',
  changed: 'no longer trusted, because its files have changed',
  refused: 'not trusted (you refused)',
}

/** A file, and what has happened to it since the folder was trusted. */
export interface ReviewedFile extends ProjectFile {
  readonly status: 'unchanged' | 'new' | 'changed' | 'removed'
}

export interface FolderTrust {
  readonly state: TrustState
  readonly files: readonly ReviewedFile[]
}

/** The decision about a folder, and its files; `kind`: only files of this kind count. */
export function readFolderTrust(folder: string, kind?: ProjectFileKind): FolderTrust {
  const stored = readTrustFile()[realpathSync(folder)]
  const present = listProjectFiles(folder, kind)
  if (typeof stored !== 'object')
    return {
      state: stored === REFUSED ? 'refused' : 'unknown',
      files: present.map((file) => ({ ...file, status: 'new' })),
    }
  const files = [
    ...present.map((file): ReviewedFile => ({ ...file, status: compareFile(folder, file, stored) })),
    ...Object.entries(stored).flatMap(([path, record]): ReviewedFile[] =>
      (kind === undefined || record.kind === kind) &&
      !record.isOutput &&
      !present.some((file) => file.path === path) &&
      !isUnchanged(folder, path, record)
        ? [{ path, kind: record.kind, status: 'removed' }]
        : [],
    ),
  ]
  const isTooLarge = present.length > MAX_TRUSTED_FILES
  return { state: isTooLarge || files.some(({ status }) => status !== 'unchanged') ? 'changed' : 'trusted', files }
}

export function readTrustState(folder: string): TrustState {
  return readFolderTrust(folder).state
}

/** The files of a kind that may be used: all, or none if one has changed since the folder was trusted. */
export function listTrustedFiles(folder: string, kind: ProjectFileKind): string[] {
  const { state, files } = readFolderTrust(folder, kind)
  return state === 'trusted' ? files.map(({ path }) => path) : []
}

/** Reads a file of a trusted folder, if it is still the one that was trusted. */
export function readTrustedText(
  folder: string,
  path: string,
  maxBytes: number,
): { readonly text: string; readonly isCut: boolean } | ProjectFileProblem | { readonly problem: 'untrusted' } {
  const stored = readTrustFile()[realpathSync(folder)]
  const record = typeof stored === 'object' && Object.hasOwn(stored, path) ? stored[path] : undefined
  const { content, digest } = readWithDigest(join(folder, path))
  if (record === undefined || digest === undefined || record.digest !== digest) return { problem: 'untrusted' }
  // The links of a trusted file are still checked: what they lead to may have been replaced.
  const read = readProjectText(join(folder, path), { within: folder, maxBytes })
  if ('problem' in read || !('bytes' in content)) return 'problem' in read ? read : { problem: 'unreadable' }
  const text = new TextDecoder().decode(content.bytes.subarray(0, maxBytes), {
    stream: content.bytes.length > maxBytes,
  })
  return { text, isCut: content.bytes.length > maxBytes }
}

/** Stores the user's decision about a folder as it is now; undefined removes it. */
export function saveFolderTrust(folder: string, trusted: boolean | undefined): void {
  const real = realpathSync(folder)
  const newEntry =
    trusted === undefined ? {} : { [real]: trusted ? createRecords(folder, listProjectFiles(folder)) : REFUSED }
  updatePrivateFile(trustFilePath(), () => {
    const { [real]: _former, ...others } = readTrustFile()
    return `${JSON.stringify({ ...others, ...newEntry }, undefined, 2)}\n`
  })
}

/**
 * Data that the hooks of a trusted folder wrote while they ran does not cost their trust: it stays bound to what they left there.
 * Call it only while they run, or right after that, and only if their folder was trusted when they started.
 */
export function keepHookOutputs(folder: string, kind: ProjectFileKind): void {
  const outputs = readFolderTrust(folder, kind).files.filter(
    ({ status, isOutput }) => isOutput && status !== 'unchanged',
  )
  const records = outputs.flatMap(({ path, kind: owner }): [string, TrustRecord][] => {
    const { digest } = readWithDigest(join(folder, path))
    return digest === undefined ? [] : [[path, { kind: owner, digest, isOutput: true }]]
  })
  if (records.length > 0) addRecords(folder, () => Object.fromEntries(records))
}

/** A change that the user made through a command keeps the trust in this file, and in those it names; others need a decision. */
export function trustChangedFile(folder: string, path: string): void {
  const isCovered = (file: ProjectFile) => file.path === path || file.namedBy === path
  addRecords(folder, () => createRecords(folder, listProjectFiles(folder).filter(isCovered)))
}

/** Adds to the records of a folder, if the user trusts it. */
function addRecords(folder: string, create: () => TrustRecords): void {
  const real = realpathSync(folder)
  updatePrivateFile(trustFilePath(), () => {
    const all = readTrustFile()
    const stored = all[real]
    const next = typeof stored === 'object' && { [real]: { ...stored, ...create() } }
    return `${JSON.stringify({ ...all, ...next }, undefined, 2)}\n`
  })
}

const REFUSED = 'refused'

interface TrustRecord {
  readonly kind: ProjectFileKind
  readonly digest: string
  /** A hook wrote it, so nothing is missing without it. */
  readonly isOutput?: true
}

type TrustRecords = Readonly<Record<string, TrustRecord>>

function createRecords(folder: string, files: readonly ProjectFile[]): TrustRecords {
  if (files.length > MAX_TRUSTED_FILES)
    throw new UserError(`the files of ${folder} cannot be trusted: there are more than ${MAX_TRUSTED_FILES}`)
  return Object.fromEntries(
    files.map(({ path, kind }) => {
      const { digest } = readWithDigest(join(folder, path))
      if (digest === undefined) throw new UserError(`${path} cannot be trusted: it cannot be read, or it is too large`)
      return [path, { kind, digest }]
    }),
  )
}

function compareFile(folder: string, { path }: ProjectFile, stored: TrustRecords): ReviewedFile['status'] {
  const record = Object.hasOwn(stored, path) ? stored[path] : undefined
  if (record === undefined) return 'new'
  return isUnchanged(folder, path, record) ? 'unchanged' : 'changed'
}

function isUnchanged(folder: string, path: string, record: TrustRecord): boolean {
  const { digest } = readWithDigest(join(folder, path))
  return digest !== undefined && digest === record.digest
}

function trustFilePath(): string {
  return join(getDataFolder(), 'trust.json')
}

/** A damaged file trusts no folder. An entry of an earlier version, one hash for all files, counts as no decision. */
function readTrustFile(): Record<string, TrustRecords | typeof REFUSED> {
  try {
    const json: unknown = JSON.parse(readFileSync(trustFilePath(), 'utf8'))
    return Object.fromEntries(
      Object.entries(objectOrEmpty(json)).flatMap(([folder, value]): [string, TrustRecords | typeof REFUSED][] => {
        if (value === REFUSED) return [[folder, REFUSED]]
        return isObject(value) ? [[folder, parseRecords(value)]] : []
      }),
    )
  } catch {
    return {}
  }
}

function parseRecords(value: Readonly<Record<string, unknown>>): TrustRecords {
  return Object.fromEntries(
    Object.entries(value).flatMap(([path, record]): [string, TrustRecord][] => {
      const { kind, digest, isOutput } = objectOrEmpty(record)
      return typeof kind === 'string' && typeof digest === 'string'
        ? [[path, { kind: kind as ProjectFileKind, digest, ...(isOutput === true && { isOutput }) }]]
        : []
    }),
  )
}
