import { defined } from '../../model/defined.ts'
import {
  filterObjects,
  isObject,
  type JsonObject,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import { createTextResult } from '../../model/result.ts'
import type { AssistantPart, CallPart, MediaPart, ModelOrigin, ResultPart, TextPart, WireId } from '../../model/turn.ts'
import { parseMediaUrl } from '../../wire/read-parts.ts'
import {
  createResponseSteps,
  createTextPart,
  createUserStep,
  FindingCounter,
  type ForeignSession,
  type ForeignStep,
  type LogRecord,
} from './foreign-session.ts'

/** A session of opencode as `opencode export` prints it; its database and its older files have the same records. */
export interface OpencodeSession {
  readonly info: LogRecord
  readonly messages: readonly OpencodeMessage[]
  /** Records that are not JSON. */
  readonly unreadableCount?: number
}

export interface OpencodeMessage {
  readonly info: LogRecord
  readonly parts: readonly LogRecord[]
}

export function readOpencodeSession({ info, messages, unreadableCount = 0 }: OpencodeSession): ForeignSession {
  const findings = new FindingCounter()
  findings.add('unreadable-line', unreadableCount)
  const active = withoutReverted(messages, info)
  findings.add('other-branch', messages.length - active.length)
  const steps = active.flatMap((message) => toSteps(message, findings))
  return {
    agent: 'opencode',
    ...defined({ id: nonBlankString(info['id']), folder: nonBlankString(info['directory']) }),
    steps,
    findings: findings.list(),
  }
}

/** After an undo, the messages from there on wait to be removed. */
function withoutReverted(messages: readonly OpencodeMessage[], info: LogRecord): readonly OpencodeMessage[] {
  const { messageID } = objectOrEmpty(info['revert'])
  const at = messages.findIndex((message) => message.info['id'] === messageID)
  return typeof messageID === 'string' && at >= 0 ? messages.slice(0, at) : messages
}

function toSteps({ info, parts }: OpencodeMessage, findings: FindingCounter): ForeignStep[] {
  if (info['role'] === 'user') {
    const content = parts.flatMap(readUserPart)
    return content.length === 0 ? [] : [createUserStep(...content)]
  }
  if (info['role'] !== 'assistant') {
    findings.add('agent-message')
    return []
  }
  if (info['summary'] === true) {
    const text = parts.filter(({ type }) => type === 'text').map((part) => stringOrEmpty(part['text']))
    return [{ role: 'summary', text: text.join('\n') }]
  }
  return splitResponses(parts).flatMap((response) => toResponseSteps(response, readOrigin(info)))
}

function readUserPart(part: LogRecord): (TextPart | MediaPart)[] {
  if (part['ignored'] === true) return []
  if (part['type'] === 'text') return [createTextPart(part['text'])]
  if (part['type'] !== 'file') return []
  const media = parseMediaUrl(stringOrEmpty(part['url']), nonBlankString(part['mime']) ?? 'application/octet-stream')
  // The content of a local file is in a text beside it.
  return media.uri?.startsWith('file:') ? [] : [{ ...media, ...defined({ name: nonBlankString(part['filename']) }) }]
}

/** A message may have several responses of the model, each with its calls. */
function splitResponses(parts: readonly LogRecord[]): LogRecord[][] {
  const responses: LogRecord[][] = [[]]
  for (const part of parts) {
    if (part['type'] === 'step-start' && responses.at(-1)?.length) responses.push([])
    else responses.at(-1)?.push(part)
  }
  return responses
}

function toResponseSteps(parts: readonly LogRecord[], origin: ModelOrigin): ForeignStep[] {
  const calls = parts.filter(({ type }) => type === 'tool').map(readCall)
  let next = 0
  const content = parts.flatMap((part): AssistantPart[] => {
    if (part['type'] === 'text') return [createTextPart(part['text'])]
    if (part['type'] === 'reasoning') return [{ kind: 'reasoning', text: stringOrEmpty(part['text']) }]
    const call = part['type'] === 'tool' ? calls[next++]?.call : undefined
    return call ? [call] : []
  })
  return createResponseSteps(
    content,
    calls.map(({ result }) => result),
    origin,
  )
}

function readCall(part: LogRecord): { readonly call: CallPart; readonly result: ResultPart | undefined } {
  const state = objectOrEmpty(part['state'])
  const input = isObject(state['input']) ? (state['input'] as JsonObject) : {}
  const reference = { id: stringOrEmpty(part['callID']), name: stringOrEmpty(part['tool']) }
  const call: CallPart = { kind: 'call', ...reference, raw: JSON.stringify(input), input }
  if (state['status'] === 'error')
    return { call, result: createTextResult(reference, 'error', stringOrEmpty(state['error'])) }
  if (state['status'] !== 'completed') return { call, result: undefined }
  const images = filterObjects(state['attachments']).flatMap(readUserPart)
  const content = [createTextPart(state['output']), ...images]
  return { call, result: { kind: 'result', ...reference, status: 'ok', content } }
}

function readOrigin(info: LogRecord): ModelOrigin {
  const provider = nonBlankString(info['providerID']) ?? 'opencode'
  const wire: WireId = provider === 'anthropic' ? 'anthropic' : provider === 'google' ? 'gemini' : 'openai-chat'
  return { provider, wire, model: stringOrEmpty(info['modelID']) }
}
