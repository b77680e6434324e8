import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import type { TextStream } from '../turn/text-stream.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { createReasoningSplitter, type ReasoningSplitter } from '../turn/reasoning-splitter.ts'

type JsonFields = Readonly<Record<string, unknown>>

/** The blocks of one answer. Where an endpoint bends the protocol, what can be told apart is; what cannot taints the answer (T132). */
export interface ContentBlocks {
  start(index: unknown, block: JsonFields): void
  addDelta(index: unknown, delta: JsonFields): void
  stop(index: unknown): void
  /** A whole block that stands before all others. */
  addLeadingBlock(block: JsonFields): void
  /** The answer is over: what was not stopped is closed, as far as the answer itself ended (T132). */
  end(): void
  readonly count: number
}

/** A block that is open at an index. */
interface ContentBlock {
  readonly type: string
  /** It was opened by a delta: its start is still due. */
  readonly early?: boolean
  index?: number
  isClosed: boolean
  /** The call that it is, if it is one. */
  readonly pendingCall?: PendingCall
  add(delta: JsonFields): void
  /** `whole`: the vendor said that the block, or the answer, is over. */
  close(whole: boolean): void
}

/** Starts the table of an answer's blocks. */
export function createContentBlocks(builder: TurnBuilder): ContentBlocks {
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

  function warnDropped(kind: string): void {
    builder.warn('unknown-delta', `A delta of type “${kind}” was not understood; it was dropped (T132).`)
  }

  function start(index: number, rawBlock: JsonFields): void {
    const current = at.get(index)
    if (typeof rawBlock['id'] === 'string' && leadingIds.has(rawBlock['id'])) {
      builder.warn(
        'repeated-call',
        'A call that stood at the head of the answer came again; the repeat was dropped (T21).',
      )
      return void addBlock(index, createIgnoredBlock())
    }
    if (typeof rawBlock['type'] !== 'string' || rawBlock['type'] === '') {
      return builder.warn('unknown-block', 'A block began that does not say what it is; its deltas will (T132).')
    }
    const early = current?.early && !current.isClosed ? current : undefined
    if (early?.type === rawBlock['type']) return early.add(rawBlock)
    if (current?.pendingCall && !current.isClosed && isRepeatedStart(current.pendingCall, rawBlock)) {
      return builder.warn('repeated-block', 'A block began twice; the second time was ignored (T132).')
    }
    const block = openBlock(builder, index, rawBlock)
    // The next deltas at this index may still be meant for a call that was not over.
    const before = current ? all.flatMap((one) => (one.index === index ? listUnfinishedCalls(one) : [])) : []
    if (block.pendingCall && before.length > 0) markAmbiguous([...before, block.pendingCall])
    // What came too early goes to the block that it belongs to.
    if (early && 'json' in early) block.add({ partial_json: early.json })
    else if (early) closeBlock(early, true)
    if (early) early.isClosed = true
    addBlock(index, block)
  }

  /** A piece without an index may belong to any call that is still open. */
  function markUnindexed(): void {
    const open = all.flatMap(listUnfinishedCalls)
    if (open.length > 1) markAmbiguous(open)
  }

  return {
    // An index that is missing is the next one, or, of deltas, the newest.
    start: (index, rawBlock) => start(typeof index === 'number' ? index : newest + 1, rawBlock),
    addDelta(index, delta) {
      const blockIndex = typeof index === 'number' ? index : newest
      const current = at.get(blockIndex)
      const kind = getDeltaType(delta)
      const type = BLOCK_TYPE_BY_DELTA.get(kind)
      if (typeof index !== 'number' && type === 'tool_use') markUnindexed()
      if (current && !current.isClosed) {
        if (type === undefined && KNOWN_BLOCK_TYPES.has(current.type) && kind !== 'citations_delta') warnDropped(kind)
        return current.add(delta)
      }
      if (current?.isClosed && type === 'tool_use' && delta['partial_json'] === '') return
      if (current?.isClosed && type === 'tool_use')
        return builder.markCorrupt('Arguments came for a call that had ended (T132).')
      if (type === undefined) return warnDropped(kind)
      const block =
        type === 'tool_use' ? createEarlyArgumentsBlock(builder, blockIndex) : openBlock(builder, blockIndex, { type })
      addBlock(blockIndex, Object.assign(block, { early: true })).add(delta)
    },
    stop(index) {
      const current = at.get(typeof index === 'number' ? index : newest)
      if (current) closeBlock(current, true)
      else builder.warn('unknown-block', 'A block ended that had never begun (T132).')
    },
    addLeadingBlock(rawBlock) {
      if (rawBlock['type'] === 'text' || rawBlock['type'] === 'thinking') {
        if (rawBlock['text'] || rawBlock['thinking'])
          builder.warn('early-text', 'Text at the head of the answer was not read.')
        return
      }
      const index = -1 - all.length
      const block = openBlock(builder, index, rawBlock)
      all.push(block)
      closeBlock(block, true)
      if (typeof rawBlock['id'] === 'string' && rawBlock['id'] !== '') leadingIds.add(rawBlock['id'])
    },
    end() {
      for (const block of all) closeBlock(block, builder.hasEnded)
    },
    get count() {
      return all.length
    },
  }
}

/** The call that a block is, if more of it may come. */
function listUnfinishedCalls({ pendingCall, isClosed }: ContentBlock): PendingCall[] {
  return pendingCall && !isClosed && !pendingCall.scan.isComplete ? [pendingCall] : []
}

/** Two calls may have got each other's arguments: neither may run. */
function markAmbiguous(pendingCalls: readonly PendingCall[]): void {
  for (const pendingCall of pendingCalls) pendingCall.isAmbiguous = true
}

/** Is this the start of the very call that is still coming in? */
function isRepeatedStart(pendingCall: PendingCall, rawBlock: JsonFields): boolean {
  const id = typeof rawBlock['id'] === 'string' && rawBlock['id'].trim() !== '' ? rawBlock['id'] : undefined
  return (
    rawBlock['type'] === 'tool_use' &&
    id === pendingCall.wireId &&
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
  const think: ReasoningSplitter | undefined = builder.context.profile.think ? createReasoningSplitter() : undefined
  let thoughts: TextStream | undefined = think && builder.openText('reasoning')
  const stream = builder.openText('text')
  const citations: Json[] = Array.isArray(rawBlock['citations']) ? [...(rawBlock['citations'] as Json[])] : []
  const appendPieces = (pieces: ReturnType<ReasoningSplitter['push']>) => {
    for (const piece of pieces) (piece.channel === 'text' ? stream : (thoughts ?? stream)).append(piece.text)
  }
  const block: ContentBlock = {
    type: 'text',
    isClosed: false,
    add(delta) {
      const text = delta['text']
      if (typeof text === 'string' && think) appendPieces(think.push(text))
      else if (typeof text === 'string') stream.append(text)
      else if (typeof delta['thinking'] === 'string')
        (thoughts ??= builder.openText('reasoning')).append(delta['thinking'])
      else if (isObject(delta['citation'])) citations.push(delta['citation'] as Json)
      else if (typeof delta['partial_json'] === 'string' && delta['partial_json'] !== '') {
        builder.markCorrupt('Arguments came inside a text block (T132).')
      }
    },
    close() {
      if (think) appendPieces(think.end())
      thoughts?.close()
      stream.close(citations.length > 0 ? builder.createNative(undefined, { type: 'text', citations }) : undefined)
    },
  }
  block.add({ text: rawBlock['text'] })
  return block
}

/** Thinking is kept as it came, beside what is shown of it: its signature covers every byte (T80). */
function createThinkingBlock(builder: TurnBuilder, rawBlock: JsonFields): ContentBlock {
  const stream = builder.openText('reasoning')
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
      if (typeof delta['signature'] === 'string' && delta['signature'] !== '') signature = delta['signature']
      // The visible answer in a block of thinking: a proxy forgot to begin another one.
      if (typeof delta['text'] === 'string' && delta['text'] !== '')
        (stray ??= builder.openText('text')).append(delta['text'])
      if (typeof delta['partial_json'] === 'string' && delta['partial_json'] !== '') {
        builder.markCorrupt('Arguments came inside a block of thinking (T132).')
      }
    },
    close() {
      const signed: JsonObject | undefined =
        signature === '' ? undefined : { ...(rawBlock as JsonObject), type: 'thinking', thinking, signature }
      // Nothing is kept of thinking that neither says anything nor can go back (T136).
      if (signed || thinking !== '') stream.close(builder.createNative(undefined, signed))
      stray?.close()
    },
  }
  block.add({ thinking: rawBlock['thinking'], signature: rawBlock['signature'] })
  return block
}

function createCallBlock(builder: TurnBuilder, index: number, rawBlock: JsonFields): ContentBlock {
  const { calls } = builder
  const pendingCall = calls.open({ index, id: rawBlock['id'], name: rawBlock['name'] })
  const caller = rawBlock['caller']
  if (isObject(caller) && caller['type'] !== 'direct') pendingCall.nativeData = { caller: caller as Json }
  return {
    type: 'tool_use',
    isClosed: false,
    pendingCall,
    add(delta) {
      if (typeof delta['partial_json'] === 'string') calls.extend(pendingCall, { args: delta['partial_json'] })
      else if (delta['input'] !== undefined) calls.extend(pendingCall, { args: delta['input'] })
      else if (typeof delta['text'] === 'string' && delta['text'] !== '')
        builder.markCorrupt('Text came inside a call (T132).')
    },
    close(whole) {
      if (!whole) return
      // The input of the start is a placeholder, unless nothing else comes (T18).
      if (pendingCall.raw === '') calls.extend(pendingCall, { args: rawBlock['input'] })
      // A call without arguments stays open to the end: they may have been written as text (T63).
      if (!hasNoArguments(pendingCall)) calls.close(pendingCall)
    },
  }
}

function hasNoArguments(pendingCall: PendingCall): boolean {
  return /^[\s{}]*$/.test(pendingCall.raw)
}

/** What only the vendor understands: server tools, their results, redacted thinking, and whatever comes next. Kept whole, for replay (T82, T137). */
function createNativeBlock(builder: TurnBuilder, rawBlock: JsonFields): ContentBlock {
  const index = builder.reserveIndex()
  const fields = new Map(Object.entries(rawBlock as JsonObject))
  const kind = rawBlock['type'] === 'redacted_thinking' ? 'reasoning' : 'text'
  const type = typeof rawBlock['type'] === 'string' ? rawBlock['type'] : ''
  let json = ''
  return {
    type,
    isClosed: false,
    add(delta) {
      for (const [key, value] of Object.entries(delta as JsonObject)) {
        if (key === 'type' || value === null) continue
        const before = fields.get(key)
        if (key === 'partial_json') json += typeof value === 'string' ? value : ''
        else fields.set(key, typeof before === 'string' && typeof value === 'string' ? before + value : value)
      }
    },
    close(whole) {
      const input = json === '' ? undefined : tryParseJson(json)
      if (!whole || (json !== '' && input === undefined)) {
        return builder.warn('cut-block', `A block of type ${type} broke off; it was dropped.`)
      }
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

/** Arguments that came before the start of their block wait for it (T132). */
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

function createIgnoredBlock(): ContentBlock {
  return { type: '', isClosed: false, add: () => undefined, close: () => undefined }
}

/** What kind of delta this is; a proxy may leave out the type. */
function getDeltaType(delta: JsonFields): string {
  if (typeof delta['type'] === 'string') return delta['type']
  return (
    [...BLOCK_TYPE_BY_DELTA.keys()].find(
      (type) => FIELD_BY_DELTA.get(type) !== undefined && delta[FIELD_BY_DELTA.get(type) ?? ''] !== undefined,
    ) ?? ''
  )
}

function tryParseJson(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json
  } catch {
    return undefined
  }
}

/** The blocks of which every delta is known; of others, everything is kept. */
const KNOWN_BLOCK_TYPES = new Set(['text', 'thinking', 'tool_use'])

const BLOCK_TYPE_BY_DELTA: ReadonlyMap<string, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
  ['input_json_delta', 'tool_use'],
])

const FIELD_BY_DELTA: ReadonlyMap<string, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
  ['input_json_delta', 'partial_json'],
])
