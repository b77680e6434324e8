import { defined } from '../../model/defined.ts'
import {
  type Json,
  type JsonObject,
  filterObjects,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import { NAMESPACE_SEPARATOR, type ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import type { TextStream } from '../turn/text-stream.ts'
import { pickOtherFields } from '../read-parts.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { isToolSearchSpec, TOOL_SEARCH } from '../late-tools.ts'

/** `other` items are only kept for the vendor. */
type OutputItemKind = 'message' | 'reasoning' | 'call' | 'other'

export type JsonFields = Readonly<Record<string, unknown>>

/** One channel of an item that is being received. */
interface ChannelText {
  readonly stream: TextStream
  /** By the index that the vendor gives each piece. */
  readonly pieces: Map<number, string>
  /** Everything that was added to the stream. */
  text: string
}

/** An item of the response. Vendors change ids (T141) and omit indexes, so neither identifies it reliably. */
export interface OutputItem {
  readonly kind: OutputItemKind
  outputIndex: number | undefined
  /** The index of its first part in the turn. */
  readonly partIndex: number
  readonly ids: Set<string>
  readonly pendingCall: PendingCall | undefined
  readonly channelTexts: Map<TextChannel, ChannelText>
  readonly type: string
  phase: string | undefined
  /** The arguments of the announcement; they are used only if there are no others. */
  initialArguments: unknown
  /** Other fields of the announcement, which the final version need not repeat. */
  announcedFields: JsonObject | undefined
  /** The citations that came as events, by the index of their text; the final version need not repeat them. */
  readonly annotations: Map<number, Json[]>
  /** The vendor said that its arguments are complete, even if there are none. */
  hasFinalArguments: boolean
  /** Was it announced, or are there only its deltas? */
  isAnnounced: boolean
  isDone: boolean
  isListed: boolean
}

export type TextChannel = 'text' | 'refusal' | 'summary' | 'thought'

export function getItemKind(type: unknown): OutputItemKind {
  if (type === 'message' || type === 'reasoning') return type
  return type === 'function_call' || type === 'custom_tool_call' ? 'call' : 'other'
}

export function openOutputItem(builder: TurnBuilder, type: string, index: number | undefined): OutputItem {
  const kind = getItemKind(type)
  const pendingCall = kind === 'call' ? builder.calls.open({ index, freeform: type === 'custom_tool_call' }) : undefined
  return {
    kind,
    outputIndex: index,
    partIndex: pendingCall ? pendingCall.partIndex : builder.reserveIndex(),
    ids: new Set(),
    pendingCall,
    channelTexts: new Map(),
    type,
    phase: undefined,
    initialArguments: undefined,
    announcedFields: undefined,
    annotations: new Map(),
    hasFinalArguments: false,
    isAnnounced: false,
    isDone: false,
    isListed: false,
  }
}

/** Takes over the fields of an announcement or of a finished item. */
export function updateItem(item: OutputItem, data: JsonFields): void {
  const itemId = nonBlankString(data['id'])
  if (itemId !== undefined) item.ids.add(itemId)
  if (typeof data['phase'] === 'string') item.phase = data['phase']
  const { pendingCall } = item
  if (!pendingCall) return
  const id = nonBlankString(data['call_id'])
  pendingCall.wireId ??= id ?? itemId
  if (id !== undefined) pendingCall.ids.add(id)
  const name = nonBlankString(data['name'])
  if (name !== undefined) pendingCall.nameFragments = [name]
  if (data['type'] === 'custom_tool_call') pendingCall.isFreeform = true
  pendingCall.nativeData = getReplayedFields(data) ?? pendingCall.nativeData
}

/** What a call must be sent back with, such as its caller; other fields of a response are only kept. */
function getReplayedFields(item: JsonFields): JsonObject | undefined {
  const filled = Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null))
  const { caller, namespace, async, [SEARCH_FIELDS]: search, ...rest } = filled
  const response = pickOtherFields(rest, 'type id call_id name status arguments input')
  const fields = defined({ caller, namespace, async, ...objectOrEmpty(search), response })
  return Object.keys(fields).length > 0 ? (fields as JsonObject) : undefined
}

/**
 * A call item by the name under which its tool is declared to wires without namespaces. A search that the client runs is a
 * call too: its own fields are set apart, so that it can be sent back as what it was.
 */
export function normalizeCallItem(item: JsonFields, projection: ToolDeclarations): JsonFields {
  const { type, namespace, call_id: callId, execution } = item
  const name = nonBlankString(item['name'])
  if (type === 'tool_search_call' && execution === 'client' && typeof callId === 'string') {
    const tool = projection.tools.find(isToolSearchSpec)
    const { execution: _execution, ...rest } = item
    return { ...rest, type: 'function_call', name: tool?.name ?? TOOL_SEARCH, [SEARCH_FIELDS]: { type, execution } }
  }
  if (getItemKind(type) !== 'call' || name === undefined) return item
  return { ...item, name: findFlatName(nonBlankString(namespace), name, projection) }
}

const SEARCH_FIELDS = 'search fields'

/** Without a namespace, the one tool that has the name in any. */
export function findFlatName(namespace: string | undefined, name: string, { tools }: ToolDeclarations): string {
  const members = tools.filter((tool) => tool.namespace?.tool === name)
  if (namespace !== undefined) {
    const member = members.find((tool) => tool.namespace?.name === namespace)
    return member?.name ?? `${namespace}${NAMESPACE_SEPARATOR}${name}`
  }
  const [only, ...more] = members
  return only && more.length === 0 && !tools.some((tool) => tool.name === name) ? only.name : name
}

/** Adds a piece to a channel. Reasoning may be sent in two channels; only the first one is used, as the other repeats it. */
export function appendItemText(builder: TurnBuilder, item: OutputItem, channel: TextChannel, at: number, text: string) {
  const channelText = getChannelText(builder, item, channel)
  if (!channelText) return
  const before = channelText.pieces.get(at)
  const separator = before === undefined && channelText.text !== '' ? PIECE_SEPARATORS[channel] : ''
  channelText.pieces.set(at, (before ?? '') + text)
  channelText.text += separator + text
  channelText.stream.append(separator + text)
}

export function replaceItemText(
  builder: TurnBuilder,
  item: OutputItem,
  channel: TextChannel,
  at: number,
  text: string,
) {
  const channelText = text === '' ? undefined : getChannelText(builder, item, channel)
  if (!channelText) return
  channelText.pieces.set(at, text)
  replaceChannelText(channelText, [...channelText.pieces.values()].join(PIECE_SEPARATORS[channel]))
}

/** Replaces the text of a message or of reasoning by the vendor's final version, and closes it. */
export function finishTextItem(builder: TurnBuilder, item: OutputItem, data: JsonFields): void {
  for (const [channel, texts] of Object.entries(getTextsByChannel(data)) as [TextChannel, string[]][]) {
    const whole = texts.join(PIECE_SEPARATORS[channel])
    if (whole === '') continue
    const [first] = item.channelTexts.values()
    const channelText = item.kind === 'reasoning' && first ? first : getChannelText(builder, item, channel)
    if (channelText) replaceChannelText(channelText, whole)
  }
  if (item.kind === 'reasoning') return finishReasoningItem(builder, item, data)
  const kept = getMessageData(item, addAnnotations(item, data))
  if (item.channelTexts.size === 0 && kept?.['response'] !== undefined)
    builder.openText('text', item.partIndex).close(builder.createNative(undefined, kept))
  for (const { stream } of item.channelTexts.values()) stream.close(kept && builder.createNative(undefined, kept))
}

/** A message with the citations that only its events had. */
function addAnnotations({ annotations, channelTexts }: OutputItem, data: JsonFields): JsonFields {
  if (annotations.size === 0) return data
  const pieces = [...(channelTexts.get('text')?.pieces ?? [])].sort(([one], [other]) => one - other)
  const sent = filterObjects(data['content'])
  const content: JsonFields[] = sent.length > 0 ? sent : pieces.map(([, text]) => ({ type: 'output_text', text }))
  const indexes = sent.length > 0 ? sent.map((_part, at) => at) : pieces.map(([at]) => at)
  const cited = content.map((part, at) => {
    const found = annotations.get(indexes[at] ?? at)
    const isCited = Array.isArray(part['annotations']) && part['annotations'].length > 0
    return found === undefined || isCited ? part : { ...part, annotations: found }
  })
  return { ...data, content: cited }
}

/** The phase and the citations of a message are sent back; what else it has is only kept. */
function getMessageData(item: OutputItem, data: JsonFields): JsonObject | undefined {
  const content = filterObjects(data['content'])
  const [only] = content.length === 1 ? content : []
  const isText = typeof only?.['text'] === 'string' && /^(?:output_)?text$/.test(stringOrEmpty(only['type'] ?? 'text'))
  const fields = only && isText ? pickFilledFields(only, 'type text') : undefined
  const isPlain = content.every((part) => (part === only ? isText || isPlainPart(part) : isPlainPart(part)))
  const response = pickFilledFields(data, `type id status role phase${isPlain ? ' content' : ''}`)
  const kept = defined({ phase: item.phase, fields, response })
  return Object.keys(kept).length > 0 ? kept : undefined
}

/** A part of a message that is nothing but its text. */
function isPlainPart(part: JsonFields): boolean {
  return (
    pickFilledFields(part, part['type'] === 'refusal' ? 'type refusal' : 'type text') === undefined &&
    /^(?:(?:output_)?text|refusal)$/.test(stringOrEmpty(part['type'] ?? 'text'))
  )
}

/** Many servers send empty lists and null. */
function pickFilledFields(fields: JsonFields, known: string): JsonObject | undefined {
  const isFilled = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0)
  return pickOtherFields(Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value))), known)
}

/** Reasoning is sent back only if it is encrypted; then unchanged (T84). */
function finishReasoningItem(builder: TurnBuilder, item: OutputItem, data: JsonFields): void {
  const isEncrypted = stringOrEmpty(data['encrypted_content']) !== ''
  const unknown = isEncrypted ? [] : listUnknownReasoning(data)
  if (unknown.length > 0)
    builder.warn('unknown-fields', `Part of the reasoning is unknown: ${JSON.stringify(unknown).slice(0, 200)}`)
  const [channelText] = item.channelTexts.values()
  const stream = channelText?.stream ?? (isEncrypted ? builder.openText('reasoning', item.partIndex) : undefined)
  stream?.close(isEncrypted ? builder.createNative(undefined, data as JsonObject) : undefined)
}

/** What reasoning has beside its text. If it is encrypted, it is kept as a whole. */
function listUnknownReasoning(data: JsonFields): JsonFields[] {
  const pieces = [...filterObjects(data['summary']), ...filterObjects(data['content'])].map((piece) => {
    const isText = typeof piece['text'] === 'string' && /^(?:\w+_)?text$/.test(stringOrEmpty(piece['type'] ?? 'text'))
    return isText ? pickFilledFields(piece, 'type text') : piece
  })
  const fields = pickFilledFields(data, 'id type status summary content encrypted_content format')
  return [fields, ...pieces].filter((one) => one !== undefined)
}

/** The texts of an item by channel. Of reasoning it is the summary, if there is one. */
export function getTextsByChannel(data: JsonFields): Partial<Record<TextChannel, string[]>> {
  const content: JsonFields[] =
    typeof data['content'] === 'string' ? [{ text: data['content'] }] : filterObjects(data['content'])
  const collect = (parts: readonly JsonFields[], key: string) =>
    parts.map((part) => part[key]).filter((text) => typeof text === 'string')
  if (data['type'] === 'message') return { text: collect(content, 'text'), refusal: collect(content, 'refusal') }
  if (data['type'] !== 'reasoning') return {}
  const summary = collect(filterObjects(data['summary']), 'text')
  return summary.join('') === '' ? { thought: collect(content, 'text') } : { summary }
}

function getChannelText(builder: TurnBuilder, item: OutputItem, channel: TextChannel): ChannelText | undefined {
  const existing = item.channelTexts.get(channel)
  if (existing) return existing
  const first = item.channelTexts.size === 0
  if (item.kind === 'reasoning' && !first) return undefined
  const part = first ? item.partIndex : builder.reserveIndex()
  const stream = builder.openText(item.kind === 'reasoning' ? 'reasoning' : 'text', part, {
    refusal: channel === 'refusal',
  })
  const channelText: ChannelText = { stream, pieces: new Map<number, string>(), text: '' }
  item.channelTexts.set(channel, channelText)
  return channelText
}

/** Missing text is added; if the text differs, it is replaced. */
function replaceChannelText(channelText: ChannelText, whole: string): void {
  if (whole.startsWith(channelText.text)) channelText.stream.append(whole.slice(channelText.text.length))
  else channelText.stream.replaceText(whole)
  channelText.text = whole
}

const PIECE_SEPARATORS: Readonly<Record<TextChannel, string>> = { text: '', refusal: '', summary: '\n\n', thought: '' }
