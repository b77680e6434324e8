import { isObject, type JsonObject } from '../../model/json.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import type { TextStream } from '../turn/text-stream.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'

/** What an item is to us; everything that is neither said, thought nor asked of us is the vendor's own business. */
export type OutputItemKind = 'message' | 'reasoning' | 'call' | 'other'

/** Fields from the wire. */
export type JsonFields = Readonly<Record<string, unknown>>

/** One channel of an item that is being written: its text, its refusal, its summary. */
interface ChannelText {
  readonly stream: TextStream
  /** The pieces that the vendor counts separately, by its own count. */
  readonly pieces: Map<number, string>
  /** All that was given to the run. */
  text: string
}

/** An item of the answer. Its place in the table is ours: ids rotate (T141), and the numbering may be missing. */
export interface OutputItem {
  readonly kind: OutputItemKind
  /** Its place in the answer, as the vendor counts. */
  outputIndex: number | undefined
  /** The place of its first part in the turn. */
  readonly partIndex: number
  readonly ids: Set<string>
  readonly pendingCall: PendingCall | undefined
  readonly channelTexts: Map<TextChannel, ChannelText>
  readonly type: string
  phase: string | undefined
  /** Arguments that came with the announcement; they count only if no others come. */
  initialArguments: unknown
  /** The vendor said that its arguments are whole, be there any or not. */
  hasFinalArguments: boolean
  /** Was it announced, or only seen through its deltas? */
  isAnnounced: boolean
  isDone: boolean
  /** Was it found again in the final list? */
  isListed: boolean
}

/** Where text goes. */
export type TextChannel = 'text' | 'refusal' | 'summary' | 'thought'

/** What kind of item a type of the wire is. */
export function getItemKind(type: unknown): OutputItemKind {
  if (type === 'message' || type === 'reasoning') return type
  return type === 'function_call' || type === 'custom_tool_call' ? 'call' : 'other'
}

/** Opens an item, in the place where it was first seen. */
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
    hasFinalArguments: false,
    isAnnounced: false,
    isDone: false,
    isListed: false,
  }
}

/** Takes down what an announcement or a finished item says of itself. */
export function updateItem(item: OutputItem, data: JsonFields): void {
  const itemId = nonEmptyString(data['id'])
  if (itemId !== undefined) item.ids.add(itemId)
  if (typeof data['phase'] === 'string') item.phase = data['phase']
  const { pendingCall } = item
  if (!pendingCall) return
  const id = nonEmptyString(data['call_id'])
  pendingCall.wireId ??= id ?? itemId
  if (id !== undefined) pendingCall.ids.add(id)
  const name = nonEmptyString(data['name'])
  if (name !== undefined) pendingCall.nameFragments = [name]
  if (data['type'] === 'custom_tool_call') pendingCall.isFreeform = true
  const replayed = Object.entries(data).filter(([key, value]) => REPLAYED_KEYS.has(key) && value !== null)
  if (replayed.length > 0) pendingCall.nativeData = Object.fromEntries(replayed) as JsonObject
}

/** What of a call must go back with it: who called, and in which namespace the tool is. */
const REPLAYED_KEYS = new Set(['caller', 'namespace'])

/** Adds a piece to a channel. Of the two ways to show a thought the first to come is shown; the other repeats it. */
export function appendItemText(
  builder: TurnBuilder,
  item: OutputItem,
  channel: TextChannel,
  at: number,
  text: string,
): void {
  const channelText = getChannelText(builder, item, channel)
  if (!channelText) return
  const before = channelText.pieces.get(at)
  const separator = before === undefined && channelText.text !== '' ? PIECE_SEPARATORS[channel] : ''
  channelText.pieces.set(at, (before ?? '') + text)
  channelText.text += separator + text
  channelText.stream.append(separator + text)
}

/** Takes the vendor's final word on one piece of a channel. */
export function replacePieceText(
  builder: TurnBuilder,
  item: OutputItem,
  channel: TextChannel,
  at: number,
  text: string,
): void {
  const channelText = text === '' ? undefined : getChannelText(builder, item, channel)
  if (!channelText) return
  channelText.pieces.set(at, text)
  replaceChannelText(channelText, [...channelText.pieces.values()].join(PIECE_SEPARATORS[channel]))
}

/** Takes the vendor's final word on a message or a thought, and closes it. */
export function finishTextItem(builder: TurnBuilder, item: OutputItem, data: JsonFields): void {
  for (const [channel, texts] of Object.entries(getTextsByChannel(data)) as [TextChannel, string[]][]) {
    const whole = texts.join(PIECE_SEPARATORS[channel])
    if (whole === '') continue
    const [first] = item.channelTexts.values()
    const channelText = item.kind === 'reasoning' && first ? first : getChannelText(builder, item, channel)
    if (channelText) replaceChannelText(channelText, whole)
  }
  if (item.kind === 'reasoning') return finishReasoningItem(builder, item, data)
  for (const channelText of item.channelTexts.values()) {
    channelText.stream.close(
      item.phase === undefined ? undefined : builder.createNative(undefined, { phase: item.phase }),
    )
  }
}

/** A thought goes back only if the vendor sealed it; then whole, as it came (T84). */
function finishReasoningItem(builder: TurnBuilder, item: OutputItem, data: JsonFields): void {
  const isEncrypted = typeof data['encrypted_content'] === 'string' && data['encrypted_content'] !== ''
  const [channelText] = item.channelTexts.values()
  const stream = channelText?.stream ?? (isEncrypted ? builder.openText('reasoning', item.partIndex) : undefined)
  stream?.close(isEncrypted ? builder.createNative(undefined, data as JsonObject) : undefined)
}

/** The texts of an item by channel, wherever servers put them. A thought shows its summary if it has one. */
export function getTextsByChannel(data: JsonFields): Partial<Record<TextChannel, string[]>> {
  const content = typeof data['content'] === 'string' ? [{ text: data['content'] }] : toObjects(data['content'])
  const texts = (parts: JsonFields[]) => parts.map((part) => part['text']).filter((text) => typeof text === 'string')
  if (data['type'] === 'reasoning') {
    const summary = texts(toObjects(data['summary']))
    return summary.join('') === '' ? { thought: texts(content) } : { summary }
  }
  if (data['type'] !== 'message') return {}
  const refusal = content.map((part) => part['refusal']).filter((text) => typeof text === 'string')
  return { text: texts(content), refusal }
}

/** The objects in a list; anything else is as good as none. */
export function toObjects(value: unknown): JsonFields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A non-empty string. */
export function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function getChannelText(builder: TurnBuilder, item: OutputItem, channel: TextChannel): ChannelText | undefined {
  const existing = item.channelTexts.get(channel)
  if (existing) return existing
  const first = item.channelTexts.size === 0
  if (item.kind === 'reasoning' && !first) return undefined
  const part = first ? item.partIndex : builder.reserveIndex()
  const stream = builder.openText(item.kind === 'reasoning' ? 'reasoning' : 'text', part, channel === 'refusal')
  const channelText: ChannelText = { stream, pieces: new Map<number, string>(), text: '' }
  item.channelTexts.set(channel, channelText)
  return channelText
}

/** What was lost on the way is added; where the text had come out otherwise, it is replaced. */
function replaceChannelText(channelText: ChannelText, whole: string): void {
  if (whole.startsWith(channelText.text)) channelText.stream.append(whole.slice(channelText.text.length))
  else channelText.stream.replaceText(whole)
  channelText.text = whole
}

/** What stands between the pieces of a channel. */
const PIECE_SEPARATORS: Readonly<Record<TextChannel, string>> = { text: '', refusal: '', summary: '\n\n', thought: '' }
