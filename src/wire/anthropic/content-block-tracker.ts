import { isObject, type Json, type JsonObject, nonBlankString, stringOrEmpty, tryParseJson } from '../../model/json.ts'
import { createFieldFilter } from '../other-fields.ts'
import type { NativeData } from '../../model/turn.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import type { TextStream } from '../turn/text-stream.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { formatExcerpt } from '../unread-fields.ts'
import { createReasoningSplitter, type TextOrReasoning } from '../turn/reasoning-splitter.ts'
import { pickCallFields } from './read-messages.ts'

type JsonFields = Readonly<Record<string, unknown>>

interface ContentBlock {
  readonly type: string
  /** It was opened by a delta: its start has not been received yet. */
  readonly early?: boolean
  index?: number
  isClosed: boolean
  readonly pendingCall?: PendingCall
  add(delta: JsonFields): void
  /** `whole`: the vendor signalled the end of the block or of the response. */
  close(whole: boolean): void
}

/** The blocks of one response. Deviations from the protocol are resolved; if that is not possible, no call may run (T132). */
export function createContentBlockTracker(builder: TurnBuilder) {
  const all: ContentBlock[] = []
  const at = new Map<number, ContentBlock>()
  const leadingIds = new Set<string>()
  let newest = -1

  function addBlock(index: number, block: ContentBlock): ContentBlock {
    block.index = index
    all.push(block)
    at.set(index, block)
    newest = index
    return block
  }

  function warnDropped(kind: string, delta: JsonFields): void {
    builder.warn('unknown-delta', `A delta of the unknown type “${kind}” was dropped (T132): ${formatExcerpt(delta)}`)
  }

  function start(index: number, rawBlock: JsonFields): void {
    const current = at.get(index)
    if (typeof rawBlock['id'] === 'string' && leadingIds.has(rawBlock['id'])) {
      builder.warn('repeated-call', 'A call from the start of the response was sent again; it was dropped (T21).')
      return void addBlock(index, { type: '', isClosed: false, add: () => undefined, close: () => undefined })
    }
    const type = stringOrEmpty(rawBlock['type'])
    if (type === '') {
      builder.warnOtherFields('a block without a type', rawBlock)
      return builder.warn('unknown-block', 'A block has no type; its deltas decide what it is (T132).')
    }
    const early = current?.early && !current.isClosed ? current : undefined
    if (early?.type === type) return early.add(rawBlock)
    if (current?.pendingCall && !current.isClosed && isRepeatedStart(current.pendingCall, rawBlock))
      return builder.warn('repeated-block', 'A block was started twice; the second start was ignored (T132).')
    const block = openBlock(builder, index, rawBlock)
    // The next deltas at this index may still belong to an earlier call that is not complete.
    const before = current ? all.flatMap((one) => (one.index === index ? listUnfinishedCalls(one) : [])) : []
    if (block.pendingCall && before.length > 0) markAmbiguous([...before, block.pendingCall])
    // Deltas that came before the start are added now.
    if (early && 'json' in early) block.add({ partial_json: early.json })
    else if (early) closeBlock(early, true)
    if (early) early.isClosed = true
    addBlock(index, block)
  }

  /** A delta without an index may belong to any call that is still open. */
  function markUnindexed(): void {
    const open = all.flatMap(listUnfinishedCalls)
    if (open.length > 1) markAmbiguous(open)
  }

  return {
    // A block without an index gets the next one; a delta without an index belongs to the newest block.
    start: (index: unknown, rawBlock: JsonFields) => start(typeof index === 'number' ? index : newest + 1, rawBlock),
    addDelta(index: unknown, delta: JsonFields): void {
      const blockIndex = typeof index === 'number' ? index : newest
      const current = at.get(blockIndex)
      const kind = getDeltaType(delta)
      const type = BLOCK_BY_DELTA.get(kind)
      if (typeof index !== 'number' && type === 'tool_use') markUnindexed()
      if (current && !current.isClosed) {
        if (KNOWN_BLOCK_TYPES.has(current.type)) {
          if (type === undefined && kind !== 'citations_delta') warnDropped(kind, delta)
          else builder.warnOtherFields('a delta', pickDeltaFields(delta))
        }
        return current.add(delta)
      }
      if (current?.isClosed && type === 'tool_use' && delta['partial_json'] === '') return
      if (current?.isClosed && type === 'tool_use')
        return builder.markCorrupt('Arguments were received for a call that had ended (T132).')
      if (type === undefined) return warnDropped(kind, delta)
      const block =
        type === 'tool_use' ? createEarlyArgumentsBlock(builder, blockIndex) : openBlock(builder, blockIndex, { type })
      addBlock(blockIndex, Object.assign(block, { early: true })).add(delta)
    },
    stop(index: unknown): void {
      const current = at.get(typeof index === 'number' ? index : newest)
      if (current) closeBlock(current, true)
      else builder.warn('unknown-block', 'A block was stopped that was never started (T132).')
    },
    addLeadingBlock(rawBlock: JsonFields): void {
      if (rawBlock['type'] === 'text' || rawBlock['type'] === 'thinking') {
        if (rawBlock['text'] || rawBlock['thinking'])
          builder.warn('early-text', 'Text before the first block was ignored.')
        return
      }
      const block = openBlock(builder, -1 - all.length, rawBlock)
      all.push(block)
      closeBlock(block, true)
      if (typeof rawBlock['id'] === 'string' && rawBlock['id'] !== '') leadingIds.add(rawBlock['id'])
    },
    /** Closes the blocks that were not stopped (T132). */
    end(): void {
      for (const block of all) closeBlock(block, builder.hasEnded)
    },
    count: () => all.length,
  }
}

function listUnfinishedCalls({ pendingCall, isClosed }: ContentBlock): PendingCall[] {
  return pendingCall && !isClosed && !pendingCall.scan.isComplete ? [pendingCall] : []
}

/** The calls may have received arguments of each other: none of them may run. */
function markAmbiguous(pendingCalls: readonly PendingCall[]): void {
  for (const pendingCall of pendingCalls) pendingCall.isAmbiguous = true
}

function isRepeatedStart(pendingCall: PendingCall, rawBlock: JsonFields): boolean {
  return (
    rawBlock['type'] === 'tool_use' &&
    nonBlankString(rawBlock['id']) === pendingCall.wireId &&
    rawBlock['name'] === pendingCall.nameFragments[0] &&
    !pendingCall.scan.isComplete
  )
}

function closeBlock(block: ContentBlock, whole: boolean): void {
  if (block.isClosed) return
  block.isClosed = true
  block.close(whole)
}

function openBlock(builder: TurnBuilder, index: number, rawBlock: JsonFields): ContentBlock {
  const type = rawBlock['type']
  if (type === 'text') return createTextBlock(builder, rawBlock)
  if (type === 'thinking') return createThinkingBlock(builder, rawBlock)
  return type === 'tool_use' ? createCallBlock(builder, index, rawBlock) : createNativeBlock(builder, rawBlock)
}

function createTextBlock(builder: TurnBuilder, rawBlock: JsonFields): ContentBlock {
  const splitter = builder.context.profile.think ? createReasoningSplitter() : undefined
  let reasoning: TextStream | undefined = splitter && builder.openText('reasoning')
  const others = pickBlockFields(rawBlock)
  const stream = builder.openText('text', undefined, { native: createBlockNative(builder, 'text', others) })
  const citations: Json[] = Array.isArray(rawBlock['citations']) ? [...(rawBlock['citations'] as Json[])] : []
  const appendPieces = (pieces: readonly TextOrReasoning[]) => {
    for (const piece of pieces) (piece.channel === 'text' ? stream : (reasoning ?? stream)).append(piece.text)
  }
  const block: ContentBlock = {
    type: 'text',
    isClosed: false,
    add(delta) {
      const text = delta['text']
      if (typeof text === 'string' && splitter) appendPieces(splitter.push(text))
      else if (typeof text === 'string') stream.append(text)
      else if (typeof delta['thinking'] === 'string')
        (reasoning ??= builder.openText('reasoning')).append(delta['thinking'])
      else if (isObject(delta['citation'])) citations.push(delta['citation'] as Json)
      else if (stringOrEmpty(delta['partial_json']) !== '')
        builder.markCorrupt('A text block contained call arguments (T132).')
    },
    close() {
      if (splitter) appendPieces(splitter.end())
      reasoning?.close()
      stream.close(citations.length > 0 ? createBlockNative(builder, 'text', { ...others, citations }) : undefined)
    },
  }
  block.add({ text: rawBlock['text'] })
  return block
}

/** Thinking is also kept as received, because its signature covers every byte (T80). */
function createThinkingBlock(builder: TurnBuilder, rawBlock: JsonFields): ContentBlock {
  const others = pickBlockFields(rawBlock)
  const stream = builder.openText('reasoning', undefined, { native: createBlockNative(builder, 'thinking', others) })
  let thinking = ''
  let signature = ''
  let stray: TextStream | undefined
  const block: ContentBlock = {
    type: 'thinking',
    isClosed: false,
    add(delta) {
      if (typeof delta['thinking'] === 'string') {
        thinking += delta['thinking']
        stream.append(delta['thinking'])
      }
      signature = stringOrEmpty(delta['signature']) || signature
      // Visible text in a thinking block: a proxy did not start a new block.
      const text = stringOrEmpty(delta['text'])
      if (text !== '') (stray ??= builder.openText('text')).append(text)
      if (stringOrEmpty(delta['partial_json']) !== '')
        builder.markCorrupt('A thinking block contained call arguments (T132).')
    },
    close() {
      const signed: JsonObject | undefined =
        signature === '' ? undefined : { ...(rawBlock as JsonObject), type: 'thinking', thinking, signature }
      // Unsigned thinking is not sent back.
      if (!signed) builder.warnOtherFields('unsigned thinking', others)
      // Empty thinking without a signature is dropped (T136).
      if (signed || thinking !== '') stream.close(builder.createNative(undefined, signed))
      stray?.close()
    },
  }
  block.add({ thinking: rawBlock['thinking'], signature: rawBlock['signature'] })
  return block
}

/** Native data of a block of a known type, if it has fields of its own. */
function createBlockNative(builder: TurnBuilder, type: string, others: JsonObject | undefined): NativeData | undefined {
  return others && builder.createNative(undefined, { type, ...others })
}

function createCallBlock(builder: TurnBuilder, index: number, rawBlock: JsonFields): ContentBlock {
  const { calls } = builder
  const pendingCall = calls.open({ index, id: rawBlock['id'], name: rawBlock['name'] })
  const others = pickCallFields(rawBlock)
  if (others) pendingCall.nativeData = others
  return {
    type: 'tool_use',
    isClosed: false,
    pendingCall,
    add(delta) {
      if (typeof delta['partial_json'] === 'string') calls.extend(pendingCall, { args: delta['partial_json'] })
      else if (delta['input'] !== undefined) calls.extend(pendingCall, { args: delta['input'] })
      else if (stringOrEmpty(delta['text']) !== '') builder.markCorrupt('A call contained text (T132).')
    },
    close(whole) {
      if (!whole) return
      // The input at the start is a placeholder, unless no other is received (T18).
      if (pendingCall.raw === '') calls.extend(pendingCall, { args: rawBlock['input'] })
      // A call without arguments stays open to the end: they may be written as text (T63).
      if (!/^[\s{}]*$/.test(pendingCall.raw)) calls.close(pendingCall)
    },
  }
}

/** Server tools, their results, redacted thinking and unknown blocks are kept as they are, for replay (T82, T137). */
function createNativeBlock(builder: TurnBuilder, rawBlock: JsonFields): ContentBlock {
  const index = builder.reserveIndex()
  const fields = new Map(Object.entries(rawBlock as JsonObject))
  const kind = rawBlock['type'] === 'redacted_thinking' ? 'reasoning' : 'text'
  const type = stringOrEmpty(rawBlock['type'])
  let json = ''
  return {
    type,
    isClosed: false,
    add(delta) {
      for (const [key, value] of Object.entries(delta as JsonObject)) {
        if (key === 'type' || value === null) continue
        const before = fields.get(key)
        if (key === 'partial_json') json += stringOrEmpty(value)
        else fields.set(key, typeof before === 'string' && typeof value === 'string' ? before + value : value)
      }
    },
    close(whole) {
      const input = tryParseJson(json) as Json | undefined
      if (!whole || (json !== '' && input === undefined))
        return builder.warn('cut-block', `An incomplete block of type ${type} was dropped.`)
      if (input !== undefined) fields.set('input', input)
      builder.emit({ type: 'part-open', index, kind })
      builder.emit({
        type: 'part-close',
        index,
        part: { kind, text: '', native: builder.createNative(undefined, Object.fromEntries(fields)) },
      })
    },
  }
}

/** Arguments that were received before the start of their block (T132). */
function createEarlyArgumentsBlock(builder: TurnBuilder, index: number): ContentBlock & { json: string } {
  return {
    type: '',
    isClosed: false,
    json: '',
    add(delta) {
      if (typeof delta['partial_json'] === 'string') this.json += delta['partial_json']
    },
    close() {
      if (this.json !== '') builder.calls.open({ index, args: this.json })
    },
  }
}

const pickBlockFields = createFieldFilter('type text thinking signature citations')

/** Of blocks of known types; of other blocks everything is kept. */
const pickDeltaFields = createFieldFilter('type text thinking signature citation partial_json input')

/** A proxy may omit the type: then the fields show it. */
function getDeltaType(delta: JsonFields): string {
  if (typeof delta['type'] === 'string') return delta['type']
  return DELTA_TYPES.find(({ field }) => delta[field] !== undefined)?.delta ?? ''
}

/** Unknown deltas of these blocks are dropped; of other blocks everything is kept. */
const KNOWN_BLOCK_TYPES = new Set(['text', 'thinking', 'tool_use'])

const DELTA_TYPES = [
  { delta: 'text_delta', block: 'text', field: 'text' },
  { delta: 'thinking_delta', block: 'thinking', field: 'thinking' },
  { delta: 'signature_delta', block: 'thinking', field: 'signature' },
  { delta: 'input_json_delta', block: 'tool_use', field: 'partial_json' },
] as const

const BLOCK_BY_DELTA: ReadonlyMap<string, string> = new Map(DELTA_TYPES.map(({ delta, block }) => [delta, block]))
