import { isObject, type JsonObject } from '../../model/json.ts'
import type { Slot } from '../calls.ts'
import type { Run } from '../run.ts'
import type { Scribe } from '../scribe.ts'

/** What an item is to us; everything that is neither said, thought nor asked of us is the vendor's own business. */
export type ItemKind = 'message' | 'reasoning' | 'call' | 'other'

/** Fields from the wire. */
export type Fields = Readonly<Record<string, unknown>>

/** One channel of an item that is being written: its text, its refusal, its summary. */
interface Voice {
  readonly run: Run
  /** The pieces that the vendor counts separately, by its own count. */
  readonly pieces: Map<number, string>
  /** All that was given to the run. */
  shown: string
}

/** An item of the answer. Its place in the table is ours: ids rotate (T141), and the numbering may be missing. */
export interface Item {
  readonly kind: ItemKind
  /** Its place in the answer, as the vendor counts. */
  index: number | undefined
  /** The place of its first part in the turn. */
  readonly part: number
  readonly ids: Set<string>
  readonly slot: Slot | undefined
  readonly voices: Map<Channel, Voice>
  readonly type: string
  phase: string | undefined
  /** Arguments that came with the announcement; they count only if no others come. */
  early: unknown
  /** The vendor said that its arguments are whole, be there any or not. */
  argued: boolean
  /** Was it announced, or only seen through its deltas? */
  announced: boolean
  done: boolean
  /** Was it found again in the final list? */
  listed: boolean
}

/** Where text goes. */
export type Channel = 'text' | 'refusal' | 'summary' | 'thought'

/** What kind of item a type of the wire is. */
export function kindOf(type: unknown): ItemKind {
  if (type === 'message' || type === 'reasoning') return type
  return type === 'function_call' || type === 'custom_tool_call' ? 'call' : 'other'
}

/** Opens an item, in the place where it was first seen. */
export function openItem(scribe: Scribe, type: string, index: number | undefined): Item {
  const kind = kindOf(type)
  const slot = kind === 'call' ? scribe.calls.open({ index, freeform: type === 'custom_tool_call' }) : undefined
  return {
    kind,
    index,
    part: slot ? slot.index : scribe.reserve(),
    ids: new Set(),
    slot,
    voices: new Map(),
    type,
    phase: undefined,
    early: undefined,
    argued: false,
    announced: false,
    done: false,
    listed: false,
  }
}

/** Takes down what an announcement or a finished item says of itself. */
export function describe(item: Item, data: Fields): void {
  const itemId = word(data['id'])
  if (itemId !== undefined) item.ids.add(itemId)
  if (typeof data['phase'] === 'string') item.phase = data['phase']
  const { slot } = item
  if (!slot) return
  const id = word(data['call_id'])
  slot.wireId ??= id ?? itemId
  if (id !== undefined) slot.ids.add(id)
  const name = word(data['name'])
  if (name !== undefined) slot.names = [name]
  if (data['type'] === 'custom_tool_call') slot.freeform = true
  const kept = Object.entries(data).filter(([key, value]) => KEPT.has(key) && value !== null)
  if (kept.length > 0) slot.data = Object.fromEntries(kept) as JsonObject
}

/** What of a call must go back with it: who called, and in which namespace the tool is. */
const KEPT = new Set(['caller', 'namespace'])

/** Adds a piece to a channel. Of the two ways to show a thought the first to come is shown; the other repeats it. */
export function write(scribe: Scribe, item: Item, channel: Channel, at: number, text: string): void {
  const voice = voiceOf(scribe, item, channel)
  if (!voice) return
  const before = voice.pieces.get(at)
  const gap = before === undefined && voice.shown !== '' ? BETWEEN[channel] : ''
  voice.pieces.set(at, (before ?? '') + text)
  voice.shown += gap + text
  voice.run.add(gap + text)
}

/** Takes the vendor's final word on one piece of a channel. */
export function settlePiece(scribe: Scribe, item: Item, channel: Channel, at: number, text: string): void {
  const voice = text === '' ? undefined : voiceOf(scribe, item, channel)
  if (!voice) return
  voice.pieces.set(at, text)
  settle(voice, [...voice.pieces.values()].join(BETWEEN[channel]))
}

/** Takes the vendor's final word on a message or a thought, and closes it. */
export function finishText(scribe: Scribe, item: Item, data: Fields): void {
  for (const [channel, texts] of Object.entries(textsOf(data)) as [Channel, string[]][]) {
    const whole = texts.join(BETWEEN[channel])
    if (whole === '') continue
    const [first] = item.voices.values()
    const voice = item.kind === 'reasoning' && first ? first : voiceOf(scribe, item, channel)
    if (voice) settle(voice, whole)
  }
  if (item.kind === 'reasoning') return finishThought(scribe, item, data)
  for (const voice of item.voices.values()) {
    voice.run.close(item.phase === undefined ? undefined : scribe.seal(undefined, { phase: item.phase }))
  }
}

/** A thought goes back only if the vendor sealed it; then whole, as it came (T84). */
function finishThought(scribe: Scribe, item: Item, data: Fields): void {
  const sealed = typeof data['encrypted_content'] === 'string' && data['encrypted_content'] !== ''
  const [voice] = item.voices.values()
  const run = voice?.run ?? (sealed ? scribe.run('reasoning', item.part) : undefined)
  run?.close(sealed ? scribe.seal(undefined, data as JsonObject) : undefined)
}

/** The texts of an item by channel, wherever servers put them. A thought shows its summary if it has one. */
export function textsOf(data: Fields): Partial<Record<Channel, string[]>> {
  const content = typeof data['content'] === 'string' ? [{ text: data['content'] }] : list(data['content'])
  const texts = (parts: Fields[]) => parts.map((part) => part['text']).filter((text) => typeof text === 'string')
  if (data['type'] === 'reasoning') {
    const summary = texts(list(data['summary']))
    return summary.join('') === '' ? { thought: texts(content) } : { summary }
  }
  if (data['type'] !== 'message') return {}
  const refusal = content.map((part) => part['refusal']).filter((text) => typeof text === 'string')
  return { text: texts(content), refusal }
}

/** The objects in a list; anything else is as good as none. */
export function list(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A non-empty string. */
export function word(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

function voiceOf(scribe: Scribe, item: Item, channel: Channel): Voice | undefined {
  const known = item.voices.get(channel)
  if (known) return known
  const first = item.voices.size === 0
  if (item.kind === 'reasoning' && !first) return undefined
  const part = first ? item.part : scribe.reserve()
  const run = scribe.run(item.kind === 'reasoning' ? 'reasoning' : 'text', part, channel === 'refusal')
  const voice = { run, pieces: new Map<number, string>(), shown: '' }
  item.voices.set(channel, voice)
  return voice
}

/** What was lost on the way is added; where the text had come out otherwise, it is replaced. */
function settle(voice: Voice, whole: string): void {
  if (whole.startsWith(voice.shown)) voice.run.add(whole.slice(voice.shown.length))
  else voice.run.settle(whole)
  voice.shown = whole
}

/** What stands between the pieces of a channel. */
const BETWEEN: Readonly<Record<Channel, string>> = { text: '', refusal: '', summary: '\n\n', thought: '' }
