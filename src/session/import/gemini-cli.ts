import { defined } from '../../model/defined.ts'
import {
  filterObjects,
  isObject,
  type Json,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
  tryParseJson,
} from '../../model/json.ts'
import { createTextResult } from '../../model/result.ts'
import type { AssistantPart, CallPart, MediaPart, ModelOrigin, ResultPart, TextPart } from '../../model/turn.ts'
import { readGeminiRequest } from '../../wire/gemini/read-request.ts'
import {
  createResponseSteps,
  createUserStep,
  FindingCounter,
  type ForeignSession,
  type ForeignStep,
  type LogRecord,
} from './foreign-session.ts'
import { readJsonLines } from './json-lines.ts'
import { readTornJson } from './torn-json.ts'

/**
 * Reads a chat of Gemini CLI: a JSON file with messages; in newer versions a line for each message and each change; or a
 * checkpoint of `/chat save`, which is a history of the API.
 */
export function readGeminiCliSession(text: string): ForeignSession {
  const findings = new FindingCounter()
  const whole = tryParseJson(text)
  if (Array.isArray(whole)) return readCheckpoint(whole, findings)
  if (isObject(whole) && Array.isArray(whole['history'])) return readCheckpoint(whole['history'], findings)
  const { head, messages } = isObject(whole)
    ? { head: whole, messages: filterObjects(whole['messages']) }
    : readMessageLines(text, findings)
  const steps = messages.flatMap((message) => toSteps(message, messages, findings))
  return { agent: 'gemini', ...defined({ id: nonBlankString(head['sessionId']) }), steps, findings: findings.list() }
}

/** One change a line: a message, new or again; fields of the head; or the message that the user went back to. */
function readMessageLines(text: string, findings: FindingCounter): { head: LogRecord; messages: LogRecord[] } {
  const { records, unreadableCount } = readJsonLines(text)
  if (records.length === 0) {
    const torn = objectOrEmpty(readTornJson(text))
    findings.add('unreadable-line')
    return { head: torn, messages: filterObjects(torn['messages']) }
  }
  findings.add('unreadable-line', unreadableCount)
  let head: LogRecord = {}
  let messages: LogRecord[] = []
  for (const record of records) {
    const changes = record['$set']
    const target = record['$rewindTo']
    if (isObject(changes)) {
      head = { ...head, ...changes }
      if (Array.isArray(changes['messages'])) messages = filterObjects(changes['messages'])
    } else if (typeof target === 'string') {
      const at = messages.findIndex(({ id }) => id === target)
      if (at >= 0) findings.add('other-branch', messages.splice(at).length)
    } else if (typeof record['type'] === 'string' && record['sessionId'] === undefined) {
      const at = messages.findIndex(({ id }) => id !== undefined && id === record['id'])
      if (at >= 0) messages[at] = record
      else messages.push(record)
    } else head = { ...head, ...record }
  }
  return { head, messages }
}

function toSteps(message: LogRecord, all: readonly LogRecord[], findings: FindingCounter): ForeignStep[] {
  const { type, content } = message
  if (type === 'user') {
    const parts = Array.isArray(content) ? filterObjects(content) : [{ text: stringOrEmpty(content) }]
    // The results stand with their calls, too.
    const others = parts.filter((part) => !hasStoredResult(part, all))
    if (others.length === 0) return []
    if (/^\s*<session_context>/.test(stringOrEmpty(others[0]?.['text']))) {
      findings.add('agent-message')
      return []
    }
    return readContents([{ role: 'user', parts: others }])
  }
  if (type !== 'gemini') {
    findings.add('agent-message')
    return []
  }
  const origin: ModelOrigin = { provider: 'gemini', wire: 'gemini', model: stringOrEmpty(message['model']) }
  const calls = filterObjects(message['toolCalls']).map(toCall)
  const parts: AssistantPart[] = [
    ...readThoughts(message['thoughts']),
    ...readText(content),
    ...calls.map(({ call }) => call),
  ]
  return createResponseSteps(
    parts,
    calls.map(({ result }) => result),
    origin,
  )
}

function hasStoredResult(part: LogRecord, all: readonly LogRecord[]): boolean {
  const { id } = objectOrEmpty(part['functionResponse'])
  if (typeof id !== 'string') return false
  return all.some(({ toolCalls }) =>
    filterObjects(toolCalls).some(
      (call) => call['id'] === id && call['result'] !== undefined && call['result'] !== null,
    ),
  )
}

function readThoughts(value: unknown): AssistantPart[] {
  return filterObjects(value).map(({ subject, description }) => ({
    kind: 'reasoning',
    text: [subject, description].map(stringOrEmpty).filter(Boolean).join('\n'),
  }))
}

function readText(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  const [turn] = readContents([{ role: 'user', parts: filterObjects(content) }])
  return turn?.role === 'user' ? [...turn.parts] : []
}

function toCall(record: LogRecord): { readonly call: CallPart; readonly result: ResultPart | undefined } {
  const [id, name] = [stringOrEmpty(record['id']), stringOrEmpty(record['name'])]
  const input = objectOrEmpty(record['args']) as CallPart['input'] & object
  const call: CallPart = { kind: 'call', id, name, raw: JSON.stringify(input), input }
  return { call, result: toResult(record, call) }
}

function toResult(record: LogRecord, call: CallPart): ResultPart | undefined {
  const { result, status } = record
  const parts = Array.isArray(result) ? filterObjects(result) : isObject(result) ? [result] : []
  const outcome = status === 'cancelled' ? 'cancelled' : status === 'error' ? 'error' : 'ok'
  const turns = parts.length === 0 ? [] : readContents([{ role: 'user', parts }])
  const found = turns.flatMap((turn) => (turn.role === 'results' ? turn.parts : []))[0]
  if (found) return { ...found, id: call.id, name: call.name, status: found.status === 'ok' ? outcome : found.status }
  if (typeof result === 'string') return createTextResult(call, outcome, result)
  // A call that was not carried out has only its state.
  return outcome === 'ok' ? undefined : createTextResult(call, outcome, `${call.name} was not completed.`)
}

function readContents(contents: readonly LogRecord[]): ForeignStep[] {
  return [...readGeminiRequest({ contents: contents as Json }).request.turns]
}

function readCheckpoint(history: readonly unknown[], findings: FindingCounter): ForeignSession {
  const contents = filterObjects(history)
  // The first exchange of older versions is about the environment.
  const isSetup = /This is the Gemini CLI\. We are setting up the context/.test(JSON.stringify(contents[0] ?? ''))
  if (isSetup) findings.add('agent-message')
  const answer = JSON.stringify(contents[1] ?? '')
  const skipped = !isSetup ? 0 : answer.includes('Got it. Thanks for the context') ? 2 : 1
  return { agent: 'gemini', steps: mergeUserTexts(readContents(contents.slice(skipped))), findings: findings.list() }
}

function mergeUserTexts(steps: readonly ForeignStep[]): ForeignStep[] {
  return steps.map((step) => (step.role === 'user' ? createUserStep(...step.parts) : step))
}
