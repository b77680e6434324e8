import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readRegularFile } from '../../../host/files/regular-file.ts'
import { defined } from '../../../model/defined.ts'
import { isObject, nonBlankString, stringOrEmpty, tryParseJson } from '../../../model/json.ts'
import type { ForeignSession } from '../../../session/import/foreign-session.ts'
import { type OpencodeSession, readOpencodeSession } from '../../../session/import/opencode.ts'
import { listOpencodeSessions, readOpencodeDatabase, sortById } from '../../../session/import/opencode-export.ts'
import { isSqliteFile, openSqliteDatabase, type SqliteDatabase } from '../../../session/import/sqlite-reader.ts'
import { realPathOrSelf } from '../../paths/folders.ts'
import { UserError } from '../../user-error.ts'
import type { FoundSession } from './session-files.ts'

type LogRecord = Readonly<Record<string, unknown>>

/** The sessions of opencode: in its database, and in the files of its older versions. */
export function findOpencodeSessions(dataFolder: string, folder: string): FoundSession[] {
  const databases = listFolder(dataFolder).filter((path) => /^opencode.*\.db$/.test(basename(path)))
  const files = listFolder(join(dataFolder, 'storage', 'session'))
    .flatMap(listFolder)
    .filter(isOpencodeSessionFile)
  return [
    ...databases.flatMap((path) => findInDatabase(path, folder)),
    ...files.flatMap((path): FoundSession[] => {
      const info = readObject(path)
      return info ? [toFoundSession(path, info, folder, () => readStoredFiles(path, info))] : []
    }),
  ].filter(({ title }) => title !== '')
}

/** A file of an older version: `storage/session/<project>/<session>.json`; its messages are in folders beside it. */
export function isOpencodeSessionFile(path: string): boolean {
  return /\/storage\/session\/[^/]+\/ses_[^/]+\.json$/.test(path)
}

/** A session file, or the newest session of a database, of this folder if there is one. */
export function readOpencodeSessionFile(path: string, folder: string): ForeignSession {
  if (isOpencodeSessionFile(path)) return readOpencodeSession(readStoredFiles(path, readObject(path) ?? {}))
  const found = findInDatabase(path, folder).toSorted((one, other) => other.changed - one.changed)
  const newest = found.find(({ isOfFolder }) => isOfFolder) ?? found[0]
  if (!newest) throw new UserError(`${path} has no sessions of opencode`)
  return newest.load()
}

function findInDatabase(path: string, folder: string): FoundSession[] {
  const database = openDatabase(path)
  if (!database) return []
  return listOpencodeSessions(database)
    .filter((info) => nonBlankString(info['parent_id']) === undefined)
    .map((info) => toFoundSession(path, info, folder, () => readOpencodeDatabase(database, info)))
}

function openDatabase(path: string): SqliteDatabase | undefined {
  const file = readRegularFile(path, { maxBytes: MAX_DATABASE_BYTES })
  if ('problem' in file || file.isCut || !isSqliteFile(file.bytes)) return undefined
  const log = existsSync(`${path}-wal`) ? readRegularFile(`${path}-wal`, { maxBytes: MAX_DATABASE_BYTES }) : undefined
  return openSqliteDatabase(file.bytes, log && 'bytes' in log ? log.bytes : undefined)
}

const MAX_DATABASE_BYTES = 1 << 30

function toFoundSession(path: string, info: LogRecord, folder: string, read: () => OpencodeSession): FoundSession {
  const made = nonBlankString(info['directory'])
  const { time } = info
  const updated = isObject(time) ? (time['updated'] ?? time['created']) : (info['time_updated'] ?? info['time_created'])
  return {
    agent: 'opencode',
    path,
    title: stringOrEmpty(info['title']).trim(),
    changed: typeof updated === 'number' ? updated : (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
    isOfFolder: made !== undefined && realPathOrSelf(made) === folder,
    ...defined({ id: nonBlankString(info['id']), folder: made }),
    load: () => readOpencodeSession(read()),
  }
}

/** The messages and parts of the older versions, one file each. */
function readStoredFiles(path: string, info: LogRecord): OpencodeSession {
  const storage = dirname(dirname(dirname(path)))
  let unreadableCount = 0
  const readAll = (folder: string): LogRecord[] =>
    sortById(
      listFolder(folder).flatMap((file) => {
        const record = readObject(file)
        if (!record) unreadableCount++
        return record ? [record] : []
      }),
    )
  const messages = readAll(join(storage, 'message', basename(path, '.json'))).map((message) => ({
    info: message,
    parts: readAll(join(storage, 'part', stringOrEmpty(message['id']))),
  }))
  return { info, messages, unreadableCount }
}

function readObject(path: string): LogRecord | undefined {
  const content = readRegularFile(path, { maxBytes: 64 << 20 })
  const value = 'problem' in content ? undefined : tryParseJson(content.bytes.toString('utf8'))
  return isObject(value) ? value : undefined
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}
