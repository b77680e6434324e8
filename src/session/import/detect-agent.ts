import { isObject, tryParseJson } from '../../model/json.ts'
import type { ForeignAgent } from './foreign-session.ts'

/** The agent that wrote a log, by its first records; undefined if it looks like none of them. */
export function detectAgent(text: string): ForeignAgent | undefined {
  const whole = text.trimStart().startsWith('[') || !text.includes('\n{') ? tryParseJson(text) : undefined
  if (Array.isArray(whole))
    return whole.some((one) => isObject(one) && Array.isArray(one['parts'])) ? 'gemini' : undefined
  if (isObject(whole) && isObject(whole['info']) && Array.isArray(whole['messages'])) return 'opencode'
  if (isObject(whole) && Array.isArray(whole['history'])) return 'gemini'
  for (const line of text.split('\n', MAX_LINES)) {
    const record = tryParseJson(line)
    const agent = isObject(record) ? detectRecord(record) : undefined
    if (agent) return agent
  }
  // A JSON file with a torn end.
  if (/^\s*\{\s*"sessionId"/.test(text) && text.includes('"projectHash"')) return 'gemini'
  return undefined
}

const MAX_LINES = 200

function detectRecord(record: Readonly<Record<string, unknown>>): ForeignAgent | undefined {
  const { type } = record
  if ('projectHash' in record || '$set' in record) return 'gemini'
  if (type === 'session' && 'cwd' in record) return 'pi'
  if (type === 'message' && 'parentId' in record) return 'pi'
  if (typeof type === 'string' && isObject(record['payload'])) return 'codex'
  if ('parentUuid' in record || (typeof record['sessionId'] === 'string' && typeof type === 'string')) return 'claude'
  if ((type === 'user' || type === 'gemini') && 'content' in record) return 'gemini'
  // The first versions of Codex wrote items without an envelope.
  if (type === 'message' && Array.isArray(record['content'])) return 'codex'
  return undefined
}
