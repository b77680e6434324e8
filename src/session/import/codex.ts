import { defined } from '../../model/defined.ts'
import { filterObjects, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { ModelOrigin } from '../../model/turn.ts'
import { readResponsesRequest } from '../../wire/openai-responses/read-request.ts'
import { FindingCounter, type ForeignSession, type ForeignStep, type LogRecord } from './foreign-session.ts'
import { readJsonLines } from './json-lines.ts'

/** Reads a rollout of Codex: items of the Responses API, one a line, between events that repeat them for its own screen. */
export function readCodexSession(text: string): ForeignSession {
  const findings = new FindingCounter()
  const { records, unreadableCount } = readJsonLines(text)
  findings.add('unreadable-line', unreadableCount)
  let segments: Segment[] = [{ items: [] }]
  let model = ''
  let [id, folder]: (string | undefined)[] = []
  for (const record of records) {
    const payload = objectOrEmpty(record['payload'])
    const type = record['type']
    if (type === 'session_meta') {
      id ??= nonBlankString(payload['id'])
      folder ??= nonBlankString(payload['cwd'])
    } else if (type === 'turn_context') model = nonBlankString(payload['model']) ?? model
    else if (type === 'response_item') addItem(segments, payload, findings)
    // The first versions wrote the items without an envelope.
    else if (record['payload'] === undefined && isItem(record)) addItem(segments, record, findings)
    else if (type === 'compacted') segments.push({ summary: getSummary(payload), items: [] })
    else if (type === 'event_msg' && payload['type'] === 'thread_rolled_back')
      segments = rollBack(segments, payload['num_turns'], findings)
    id ??= record['payload'] === undefined && !isItem(record) ? nonBlankString(record['id']) : undefined
  }
  const origin: ModelOrigin = { provider: 'openai', wire: 'openai-responses', model }
  const steps = segments.flatMap((segment) => toSteps(segment, origin))
  return { agent: 'codex', ...defined({ id, folder }), steps, findings: findings.list() }
}

/** The items after a summary, or from the beginning. */
interface Segment {
  readonly summary?: string
  readonly items: LogRecord[]
}

function isItem({ type }: LogRecord): boolean {
  return typeof type === 'string' && /^(?:message|reasoning|.*_call(?:_output)?)$/.test(type)
}

function addItem(segments: readonly Segment[], item: LogRecord, findings: FindingCounter): void {
  if (item['type'] === 'additional_tools') return
  if (isAgentMessage(item)) return findings.add('agent-message')
  segments.at(-1)?.items.push(toKnownItem(item))
}

/** Its instructions, and what it tells the model about the environment in the name of the user. */
function isAgentMessage(item: LogRecord): boolean {
  if (item['type'] !== 'message') return false
  if (item['role'] === 'developer' || item['role'] === 'system') return true
  return item['role'] === 'user' && AGENT_TEXTS.test(getText(item).trimStart())
}

const AGENT_TEXTS =
  /^(?:<(?:environment_context|user_instructions|permissions instructions|skills_instructions|turn_aborted|subagent_notification)\b|# AGENTS\.md instructions)/

function getText(item: LogRecord): string {
  if (typeof item['content'] === 'string') return item['content']
  return filterObjects(item['content'])
    .map(({ text }) => stringOrEmpty(text))
    .join('\n')
}

/** A shell that the vendor knows as a tool of its own is a function like any other here. */
function toKnownItem(item: LogRecord): LogRecord {
  if (item['type'] !== 'local_shell_call') return item
  const { command } = objectOrEmpty(item['action'])
  return {
    type: 'function_call',
    call_id: item['call_id'] ?? item['id'],
    name: 'shell',
    arguments: JSON.stringify({ command: command ?? [] }),
  }
}

function getSummary({ message, replacement_history: history }: LogRecord): string {
  const written = nonBlankString(message)
  const kept = filterObjects(history)
    .filter((item) => !isAgentMessage(item))
    .map(getText)
    .filter((text) => text.trim() !== '')
  return [...kept, ...(written === undefined || kept.includes(written) ? [] : [written])].join('\n\n')
}

/** The user went back by a number of turns. */
function rollBack(segments: readonly Segment[], count: unknown, findings: FindingCounter): Segment[] {
  const kept = segments.map(({ items, ...segment }) => ({ ...segment, items: [...items] }))
  for (let left = typeof count === 'number' ? count : 0; left > 0; left--) {
    const last = kept.findLast(({ items }) => items.some(isPrompt))
    if (!last) break
    const at = last.items.findLastIndex(isPrompt)
    findings.add('other-branch', last.items.splice(at).length)
  }
  return kept
}

function isPrompt({ type, role }: LogRecord): boolean {
  return type === 'message' && role === 'user'
}

function toSteps({ summary, items }: Segment, origin: ModelOrigin): ForeignStep[] {
  const { request } = readResponsesRequest({ model: origin.model, input: items })
  const steps = request.turns.map((turn): ForeignStep => (turn.role === 'assistant' ? { ...turn, origin } : turn))
  return summary === undefined ? steps : [{ role: 'summary', text: summary }, ...steps]
}
