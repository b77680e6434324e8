import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type JsonObject, stringOrEmpty, tryParseJson } from '../model/json.ts'

/** The session of a client that a request belongs to. */
export interface ClientSession {
  readonly session: string
  /** The first words of the user. */
  readonly title: string
}

/** By the id that the client sends, or by the beginning of its history. */
export function findClientSession(headers: IncomingHttpHeaders, body: JsonObject): ClientSession {
  const inner = isObject(body['request']) ? body['request'] : body
  const texts = listUserTexts(inner)
  const given = [...SESSION_HEADERS.map((name) => headers[name]), ...listBodyIds(body), ...listBodyIds(inner)]
  const id = given.find((one): one is string => typeof one === 'string' && one !== '')
  const start = JSON.stringify(texts)
  return {
    session: id?.slice(0, 100) ?? `#${createHash('sha256').update(start).digest('hex').slice(0, 12)}`,
    title: createTitle(texts),
  }
}

const SESSION_HEADERS: readonly string[] = [
  'x-claude-code-session-id',
  'session_id',
  'session-id',
  'x-session-id',
  'x-opencode-session',
  'conversation_id',
]

function listBodyIds(body: JsonObject): string[] {
  const metadata = isObject(body['metadata']) ? body['metadata'] : {}
  const user = stringOrEmpty(metadata['user_id'])
  const parsed = tryParseJson(user)
  return [
    isObject(parsed) ? stringOrEmpty(parsed['session_id']) : (/_session_([\w-]+)$/.exec(user)?.[1] ?? ''),
    stringOrEmpty(metadata['session_id']),
    stringOrEmpty(body['session_id']),
    stringOrEmpty(body['prompt_cache_key']),
  ]
}

/** The texts of the user before the model said anything, in any of the APIs. */
function listUserTexts(body: JsonObject): string[] {
  const history = body['messages'] ?? body['input'] ?? body['contents']
  if (typeof history === 'string') return [history]
  if (!Array.isArray(history)) return []
  const items = history.slice(0, MAX_ITEMS).filter((item) => isObject(item))
  const end = items.findIndex(isModelMessage)
  const messages = items.slice(0, end < 0 ? undefined : end).filter(isUserMessage)
  return messages.flatMap(readTexts).filter((text) => text.trim() !== '')
}

const MAX_ITEMS = 20

function isModelMessage({ role, type }: JsonObject): boolean {
  return role === 'assistant' || role === 'model' || (role === undefined && type !== undefined && type !== 'user_input')
}

function isUserMessage({ role, type }: JsonObject): boolean {
  return role === 'user' || type === 'user_input' || (role === undefined && type === undefined)
}

function readTexts(message: JsonObject): string[] {
  const content = message['content'] ?? message['parts'] ?? message['text']
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((part) => (isObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
}

/** Clients put instructions of their own, in tags, before what the user wrote. */
function createTitle(texts: readonly string[]): string {
  const own = texts.find((text) => !/^\s*(?:<|# AGENTS\.md)/.test(text)) ?? texts[0] ?? ''
  return own.slice(0, 1000).replaceAll(/\s+/g, ' ').trim().slice(0, 100)
}
