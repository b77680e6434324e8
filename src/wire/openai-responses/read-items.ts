import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, filterObjects, nonBlankString, stringOrEmpty } from '../../model/json.ts'
import type { AssistantPart, AssistantTurn, ReasoningPart, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { parseCallArguments } from '../calls/parse-arguments.ts'
import {
  addNativeData,
  addParts,
  appendResults,
  createNativeDataFromRequest,
  keepMessageFields,
  pickOtherFields,
  warnAboutFields,
  warnAboutUnknown,
} from '../read-parts.ts'
import { type JsonFields, getTextsByChannel } from './output-item.ts'
import { readContentParts, readOutputParts } from './read-content.ts'
import type { ToolReader } from './read-tools.ts'

const WIRE_ID = 'openai-responses'
const READ_ORIGIN = { provider: WIRE_ID, wire: WIRE_ID, model: '' } as const

/** What the items of a request are read into. */
export interface ItemReaderState {
  readonly turns: Turn[]
  readonly system: string[]
  readonly tools: ToolReader
  readonly warnings: Warning[]
}

export function readItem(item: JsonFields, state: ItemReaderState): void {
  const type = nonBlankString(item['type']) ?? (typeof item['role'] === 'string' ? 'message' : '')
  const read = ITEM_READERS[type]
  if (read) read(item, state)
  else if (CLIENT_ITEM.test(type)) addClientItem(item, state)
  else addVendorItem(item, type, state)
}

type ItemReader = (item: JsonFields, state: ItemReaderState) => void

const ITEM_READERS: Readonly<Record<string, ItemReader>> = {
  message: readMessage,
  reasoning: (item, state) => addAssistantParts(state, [readReasoning(item, state)]),
  function_call: (item, state) => addAssistantParts(state, [readCall(item, state, 'arguments')]),
  custom_tool_call: (item, state) => addAssistantParts(state, [readCall(item, state, 'input')]),
  function_call_output: readResult,
  custom_tool_call_output: readResult,
  tool_search_call: readSearchCall,
  tool_search_output: readSearchOutput,
  additional_tools: readAdditionalTools,
}

/** Items that the client adds to a history; all others are part of a response. A reference may come without a type. */
const CLIENT_ITEM = /^(?:|configuration_update|compaction\w*|item_reference|mcp_approval_response)$/

/** System messages at the start are the system prompt; later ones are notes, so that the order is kept (T101). */
function readMessage(item: JsonFields, { turns, system, warnings }: ItemReaderState): void {
  const { role, content } = item
  const others = pickOtherFields(item, MESSAGE_FIELDS)
  if (role === 'system' || role === 'developer') {
    const parts = readContentParts(content)
    for (const { native } of parts) if (native) warnAboutUnknown(`Part of a ${role} message`, native.data, warnings)
    warnAboutFields(others, `a ${role} message`, warnings)
    const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n')
    const isStart = turns.every((turn) => turn.role === 'note' && turn.text === '')
    if (isStart) system.push(text)
    else turns.push({ role: 'note', text })
  } else if (role === 'assistant') {
    const parts = readOutputParts(content).map((part) => addNativeData(part, WIRE_ID, getPhase(item)))
    addAssistantParts({ turns }, keepMessageFields(parts, WIRE_ID, others && omitPhase(others), warnings))
  } else {
    if (role !== 'user') warnAboutUnknown('The role of a message', role, warnings)
    turns.push({ role: 'user', parts: keepMessageFields(readContentParts(content), WIRE_ID, others, warnings) })
  }
}

/** Ids and states say nothing to a server that stores nothing (T84). */
const MESSAGE_FIELDS = 'type role content id status'

function getPhase({ phase }: JsonFields): JsonObject {
  return typeof phase === 'string' ? { phase } : {}
}

function omitPhase(fields: JsonObject): JsonObject | undefined {
  return typeof fields['phase'] === 'string' ? pickOtherFields(fields, 'phase') : fields
}

/** Reasoning is sent back only if it is encrypted; then unchanged (T84). */
function readReasoning(item: JsonFields, { warnings }: ItemReaderState): ReasoningPart {
  const texts = getTextsByChannel(item)
  const text = texts.summary?.join('\n\n') ?? texts.thought?.join('') ?? ''
  if (nonBlankString(item['encrypted_content']) !== undefined)
    return { kind: 'reasoning', text, native: createNativeDataFromRequest(WIRE_ID, undefined, item as JsonObject) }
  for (const piece of [...filterObjects(item['summary']), ...filterObjects(item['content'])])
    if (
      /^(?:summary_|reasoning_)?text$/.test(stringOrEmpty(piece['type'] ?? 'text')) &&
      typeof piece['text'] === 'string'
    )
      warnAboutFields(pickOtherFields(piece, 'type text'), 'reasoning', warnings)
    else warnAboutUnknown('Part of reasoning', piece, warnings)
  warnAboutFields(pickOtherFields(item, 'type id status summary content encrypted_content'), 'reasoning', warnings)
  return { kind: 'reasoning', text }
}

function readCall(item: JsonFields, { tools }: ItemReaderState, field: 'arguments' | 'input'): AssistantPart {
  const raw = typeof item[field] === 'string' ? item[field] : JSON.stringify(item[field] ?? {})
  const id = nonBlankString(item['call_id']) ?? nonBlankString(item['id']) ?? ''
  const reading = parseCallArguments(raw)
  const input = field === 'input' ? { input: raw } : reading.ok ? reading.inputs[0] : undefined
  return {
    kind: 'call',
    id,
    name: tools.toToolName(item['namespace'], stringOrEmpty(item['name'])),
    raw,
    ...defined({ input }),
    ...(field === 'input' && { freeform: true as const }),
    native: createNativeDataFromRequest(WIRE_ID, id, getKeptFields(item, `type id call_id name status ${field}`)),
  }
}

/** Fields without a value are not kept. */
function getKeptFields(item: JsonFields, known: string): JsonObject | undefined {
  const filled = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
  return pickOtherFields(filled, known)
}

function readResult(item: JsonFields, { turns, tools }: ItemReaderState): void {
  const { output } = item
  const name = nonBlankString(item['name'])
  const content =
    typeof output === 'string' || Array.isArray(output) ? output : output === undefined ? '' : JSON.stringify(output)
  const fields = getKeptFields(item, 'type id call_id output name namespace status')
  appendResults(turns, {
    kind: 'result',
    id: nonBlankString(item['call_id']) ?? '',
    name: name === undefined ? '' : tools.toToolName(item['namespace'], name),
    status: 'ok',
    content: readContentParts(content),
    ...(fields && { native: createNativeDataFromRequest(WIRE_ID, undefined, fields) }),
  })
}

/** A search that the client runs is a call like any other; one that the server ran is only kept. */
function readSearchCall(item: JsonFields, state: ItemReaderState): void {
  const id = nonBlankString(item['call_id'])
  if (item['execution'] === 'server' || id === undefined) return addVendorItem(item, 'tool_search_call', state)
  const call = readCall(item, state, 'arguments')
  if (call.kind === 'call' && !call.input)
    warnAboutUnknown('The arguments of a search, which are not an object,', item['arguments'], state.warnings)
  const data = pickOtherFields(item, 'id call_id arguments status')
  const native = createNativeDataFromRequest(WIRE_ID, id, data)
  addAssistantParts(state, [{ ...call, name: state.tools.searchToolName, native } as AssistantPart])
}

/** The found tools are declared from here on; on this wire they are part of the result. */
function readSearchOutput(item: JsonFields, state: ItemReaderState): void {
  const id = nonBlankString(item['call_id'])
  if (item['execution'] === 'server' || id === undefined) return addVendorItem(item, 'tool_search_output', state)
  const tools = state.tools.read(item['tools']).map((tool) => ({ ...tool, deferred: true }))
  const foundTools = tools.map(({ name }) => name)
  const text = foundTools.length === 0 ? 'No tools were found.' : `These tools were found: ${foundTools.join(', ')}`
  const result: ResultPart = {
    kind: 'result',
    id,
    name: state.tools.searchToolName,
    status: 'ok',
    content: [{ kind: 'text', text }],
    ...(foundTools.length > 0 && { foundTools }),
    native: createNativeDataFromRequest(WIRE_ID, undefined, pickOtherFields(item, 'id call_id status')),
  }
  appendResults(state.turns, result)
  if (tools.length > 0) state.turns.push({ role: 'note', text: '', tools })
}

function readAdditionalTools(item: JsonFields, { turns, tools, warnings }: ItemReaderState): void {
  warnAboutFields(pickOtherFields(item, 'type role id tools'), 'additional tools', warnings)
  const added = tools.read(item['tools'])
  if (added.length > 0) turns.push({ role: 'note', text: '', tools: added })
}

function addClientItem(item: JsonFields, { turns }: ItemReaderState): void {
  const native = createNativeDataFromRequest(WIRE_ID, nonBlankString(item['id']), { item: item as JsonObject })
  turns.push({ role: 'user', parts: [{ kind: 'text', text: '', native }] })
}

/** An output stands with its call, wherever it came: one without the other is rejected. */
function addVendorItem(item: JsonFields, type: string, { turns }: ItemReaderState): void {
  const native = createNativeDataFromRequest(WIRE_ID, nonBlankString(item['id']), item as JsonObject)
  const part: TextPart = { kind: 'text', text: '', native }
  const callType = type.endsWith('_call_output') ? type.slice(0, -'_output'.length) : undefined
  const owner = turns.findLast((turn) => turn.role === 'assistant' && hasVendorCall(turn, callType, item['call_id']))
  if (owner?.role === 'assistant') addParts(owner, [part])
  else addAssistantParts({ turns }, [part])
}

function hasVendorCall({ parts }: AssistantTurn, type: string | undefined, callId: unknown): boolean {
  if (type === undefined || typeof callId !== 'string') return false
  return parts.some(({ native }) => {
    const data: Json | undefined = native?.data
    return isObject(data) && data['type'] === type && data['call_id'] === callId
  })
}

function addAssistantParts({ turns }: Pick<ItemReaderState, 'turns'>, parts: readonly AssistantPart[]): void {
  const last = turns.at(-1)
  if (last?.role === 'assistant') addParts(last, parts)
  else turns.push({ role: 'assistant', origin: READ_ORIGIN, parts: [...parts], finish: { reason: 'stop' } })
}
