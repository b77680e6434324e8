import { filterObjects, objectOrEmpty, stringOrEmpty, tryParseJson } from '../../model/json.ts'
import type { OpencodeSession } from './opencode.ts'
import type { SqliteDatabase } from './sqlite-reader.ts'
import { readTornJson } from './torn-json.ts'
import type { LogRecord } from './foreign-session.ts'

/** The output of `opencode export`. */
export function readOpencodeExport(text: string): OpencodeSession {
  const whole = tryParseJson(text)
  const session = objectOrEmpty(whole ?? readTornJson(text))
  const messages = filterObjects(session['messages']).map((message) => ({
    info: objectOrEmpty(message['info']),
    parts: filterObjects(message['parts']),
  }))
  return { info: objectOrEmpty(session['info']), messages, unreadableCount: whole === undefined ? 1 : 0 }
}

/** The sessions of a database of opencode, without their messages. */
export function listOpencodeSessions(database: SqliteDatabase): LogRecord[] {
  return [...database.readTable('session')].map((row) => ({
    ...row,
    revert: tryParseJson(stringOrEmpty(row['revert'])),
  }))
}

/** A session of a database, with its messages and their parts in the order in which they were made. */
export function readOpencodeDatabase(database: SqliteDatabase, info: LogRecord): OpencodeSession {
  const { records: rows, unreadableCount: brokenMessages } = readRows(database, 'message', info)
  const { records: parts, unreadableCount: brokenParts } = readRows(database, 'part', info)
  const messages = rows.map((message) => ({
    info: message,
    parts: parts.filter((part) => part['message_id'] === message['id']),
  }))
  return { info, messages, unreadableCount: brokenMessages + brokenParts }
}

function readRows(database: SqliteDatabase, table: string, session: LogRecord) {
  const records: LogRecord[] = []
  let unreadableCount = 0
  for (const row of database.readTable(table)) {
    if (row['session_id'] !== session['id']) continue
    const data = tryParseJson(stringOrEmpty(row['data']))
    if (data === undefined) unreadableCount++
    else records.push({ ...objectOrEmpty(data), id: row['id'], message_id: row['message_id'] })
  }
  // Its ids grow with time.
  return { records: sortById(records), unreadableCount }
}

export function sortById(records: readonly LogRecord[]): LogRecord[] {
  const key = ({ id }: LogRecord): string => stringOrEmpty(id)
  return records.toSorted((one, other) => (key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : 0))
}
