import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Slot } from '../calls.ts'
import type { Run } from '../run.ts'
import type { Scribe } from '../scribe.ts'
import { startThink, type Think } from '../think.ts'

type Fields = Readonly<Record<string, unknown>>

/** The blocks of one answer. Where an endpoint bends the protocol, what can be told apart is; what cannot taints the answer (T132). */
export interface Blocks {
  start(index: unknown, block: Fields): void
  delta(index: unknown, delta: Fields): void
  stop(index: unknown): void
  /** A whole block that stands before all others. */
  before(block: Fields): void
  /** The answer is over: what was not stopped is closed, as far as the answer itself ended (T132). */
  end(): void
  readonly count: number
}

/** A block that is open at an index. */
interface Block {
  readonly type: string
  /** It was opened by a delta: its start is still due. */
  readonly early?: boolean
  index?: number
  closed: boolean
  /** The call that it is, if it is one. */
  readonly slot?: Slot
  add(delta: Fields): void
  /** `whole`: the vendor said that the block, or the answer, is over. */
  close(whole: boolean): void
}

/** Starts the table of an answer's blocks. */
export function startBlocks(scribe: Scribe): Blocks {
  const all: Block[] = []
  const at = new Map<number, Block>()
  const standing = new Set<string>()
  let newest = -1

  function put(index: number, block: Block): Block {
    block.index = index
    all.push(block)
    at.set(index, block)
    newest = index
    return block
  }

  function dropped(kind: string): void {
    scribe.warn('unknown-delta', `A delta of type “${kind}” was not understood; it was dropped (T132).`)
  }

  function start(index: number, given: Fields): void {
    const here = at.get(index)
    if (typeof given['id'] === 'string' && standing.has(given['id'])) {
      scribe.warn(
        'repeated-call',
        'A call that stood at the head of the answer came again; the repeat was dropped (T21).',
      )
      return void put(index, ignored())
    }
    if (typeof given['type'] !== 'string' || given['type'] === '') {
      return scribe.warn('unknown-block', 'A block began that does not say what it is; its deltas will (T132).')
    }
    const early = here?.early && !here.closed ? here : undefined
    if (early?.type === given['type']) return early.add(given)
    if (here?.slot && !here.closed && beginsAgain(here.slot, given)) {
      return scribe.warn('repeated-block', 'A block began twice; the second time was ignored (T132).')
    }
    const block = openBlock(scribe, index, given)
    // The next deltas at this index may still be meant for a call that was not over.
    const before = here ? all.flatMap((one) => (one.index === index ? unfinished(one) : [])) : []
    if (block.slot && before.length > 0) doubt([...before, block.slot])
    // What came too early goes to the block that it belongs to.
    if (early && 'json' in early) block.add({ partial_json: early.json })
    else if (early) close(early, true)
    if (early) early.closed = true
    put(index, block)
  }

  /** A piece without an index may belong to any call that is still open. */
  function unplaced(): void {
    const open = all.flatMap(unfinished)
    if (open.length > 1) doubt(open)
  }

  return {
    // An index that is missing is the next one, or, of deltas, the newest.
    start: (index, given) => start(typeof index === 'number' ? index : newest + 1, given),
    delta(index, delta) {
      const place = typeof index === 'number' ? index : newest
      const here = at.get(place)
      const kind = kindOf(delta)
      const type = TYPES.get(kind)
      if (typeof index !== 'number' && type === 'tool_use') unplaced()
      if (here && !here.closed) {
        if (type === undefined && UNDERSTOOD.has(here.type) && kind !== 'citations_delta') dropped(kind)
        return here.add(delta)
      }
      if (here?.closed && type === 'tool_use' && delta['partial_json'] === '') return
      if (here?.closed && type === 'tool_use') return scribe.taint('Arguments came for a call that had ended (T132).')
      if (type === undefined) return dropped(kind)
      const block = type === 'tool_use' ? earlyArguments(scribe, place) : openBlock(scribe, place, { type })
      put(place, Object.assign(block, { early: true })).add(delta)
    },
    stop(index) {
      const here = at.get(typeof index === 'number' ? index : newest)
      if (here) close(here, true)
      else scribe.warn('unknown-block', 'A block ended that had never begun (T132).')
    },
    before(given) {
      if (given['type'] === 'text' || given['type'] === 'thinking') {
        if (given['text'] || given['thinking'])
          scribe.warn('early-text', 'Text at the head of the answer was not read.')
        return
      }
      const index = -1 - all.length
      const block = openBlock(scribe, index, given)
      all.push(block)
      close(block, true)
      if (typeof given['id'] === 'string' && given['id'] !== '') standing.add(given['id'])
    },
    end() {
      for (const block of all) close(block, scribe.over)
    },
    get count() {
      return all.length
    },
  }
}

/** The call that a block is, if more of it may come. */
function unfinished({ slot, closed }: Block): Slot[] {
  return slot && !closed && !slot.scan.complete ? [slot] : []
}

/** Two calls may have got each other's arguments: neither may run. */
function doubt(slots: readonly Slot[]): void {
  for (const slot of slots) slot.ambiguous = true
}

/** Is this the start of the very call that is still coming in? */
function beginsAgain(slot: Slot, given: Fields): boolean {
  const id = typeof given['id'] === 'string' && given['id'].trim() !== '' ? given['id'] : undefined
  return given['type'] === 'tool_use' && id === slot.wireId && given['name'] === slot.names[0] && !slot.scan.complete
}

function close(block: Block, whole: boolean): void {
  if (block.closed) return
  block.closed = true
  block.close(whole)
}

function openBlock(scribe: Scribe, index: number, given: Fields): Block {
  const type = given['type']
  if (type === 'text') return textBlock(scribe, given)
  if (type === 'thinking') return thinkingBlock(scribe, given)
  return type === 'tool_use' ? callBlock(scribe, index, given) : nativeBlock(scribe, given)
}

function textBlock(scribe: Scribe, given: Fields): Block {
  const think: Think | undefined = scribe.reading.profile.think ? startThink() : undefined
  let thoughts: Run | undefined = think && scribe.run('reasoning')
  const run = scribe.run('text')
  const citations: Json[] = Array.isArray(given['citations']) ? [...(given['citations'] as Json[])] : []
  const spread = (pieces: ReturnType<Think['push']>) => {
    for (const piece of pieces) (piece.channel === 'text' ? run : (thoughts ?? run)).add(piece.text)
  }
  const block: Block = {
    type: 'text',
    closed: false,
    add(delta) {
      const words = delta['text']
      if (typeof words === 'string' && think) spread(think.push(words))
      else if (typeof words === 'string') run.add(words)
      else if (typeof delta['thinking'] === 'string') (thoughts ??= scribe.run('reasoning')).add(delta['thinking'])
      else if (isObject(delta['citation'])) citations.push(delta['citation'] as Json)
      else if (typeof delta['partial_json'] === 'string' && delta['partial_json'] !== '') {
        scribe.taint('Arguments came inside a text block (T132).')
      }
    },
    close() {
      if (think) spread(think.end())
      thoughts?.close()
      run.close(citations.length > 0 ? scribe.seal(undefined, { type: 'text', citations }) : undefined)
    },
  }
  block.add({ text: given['text'] })
  return block
}

/** Thinking is kept as it came, beside what is shown of it: its signature covers every byte (T80). */
function thinkingBlock(scribe: Scribe, given: Fields): Block {
  const run = scribe.run('reasoning')
  let thinking = ''
  let signature = ''
  let stray: Run | undefined
  const block: Block = {
    type: 'thinking',
    closed: false,
    add(delta) {
      if (typeof delta['thinking'] === 'string') {
        thinking += delta['thinking']
        run.add(delta['thinking'])
      }
      if (typeof delta['signature'] === 'string' && delta['signature'] !== '') signature = delta['signature']
      // The visible answer in a block of thinking: a proxy forgot to begin another one.
      if (typeof delta['text'] === 'string' && delta['text'] !== '') (stray ??= scribe.run('text')).add(delta['text'])
      if (typeof delta['partial_json'] === 'string' && delta['partial_json'] !== '') {
        scribe.taint('Arguments came inside a block of thinking (T132).')
      }
    },
    close() {
      const signed: JsonObject | undefined =
        signature === '' ? undefined : { ...(given as JsonObject), type: 'thinking', thinking, signature }
      // Nothing is kept of thinking that neither says anything nor can go back (T136).
      if (signed || thinking !== '') run.close(scribe.seal(undefined, signed))
      stray?.close()
    },
  }
  block.add({ thinking: given['thinking'], signature: given['signature'] })
  return block
}

function callBlock(scribe: Scribe, index: number, given: Fields): Block {
  const { calls } = scribe
  const slot = calls.open({ index, id: given['id'], name: given['name'] })
  const caller = given['caller']
  if (isObject(caller) && caller['type'] !== 'direct') slot.data = { caller: caller as Json }
  return {
    type: 'tool_use',
    closed: false,
    slot,
    add(delta) {
      if (typeof delta['partial_json'] === 'string') calls.extend(slot, { args: delta['partial_json'] })
      else if (delta['input'] !== undefined) calls.extend(slot, { args: delta['input'] })
      else if (typeof delta['text'] === 'string' && delta['text'] !== '')
        scribe.taint('Text came inside a call (T132).')
    },
    close(whole) {
      if (!whole) return
      // The input of the start is a placeholder, unless nothing else comes (T18).
      if (slot.raw === '') calls.extend(slot, { args: given['input'] })
      // A call without arguments stays open to the end: they may have been written as text (T63).
      if (!isBlank(slot)) calls.close(slot)
    },
  }
}

function isBlank(slot: Slot): boolean {
  return /^[\s{}]*$/.test(slot.raw)
}

/** What only the vendor understands: server tools, their results, redacted thinking, and whatever comes next. Kept whole, for replay (T82, T137). */
function nativeBlock(scribe: Scribe, given: Fields): Block {
  const index = scribe.reserve()
  const fields = new Map(Object.entries(given as JsonObject))
  const kind = given['type'] === 'redacted_thinking' ? 'reasoning' : 'text'
  const type = typeof given['type'] === 'string' ? given['type'] : ''
  let json = ''
  return {
    type,
    closed: false,
    add(delta) {
      for (const [key, value] of Object.entries(delta as JsonObject)) {
        if (key === 'type' || value === null) continue
        const before = fields.get(key)
        if (key === 'partial_json') json += typeof value === 'string' ? value : ''
        else fields.set(key, typeof before === 'string' && typeof value === 'string' ? before + value : value)
      }
    },
    close(whole) {
      const input = json === '' ? undefined : parsed(json)
      if (!whole || (json !== '' && input === undefined)) {
        return scribe.warn('cut-block', `A block of type ${type} broke off; it was dropped.`)
      }
      if (input !== undefined) fields.set('input', input)
      scribe.emit({ type: 'part-open', index, kind })
      scribe.emit({
        type: 'part-close',
        index,
        part: { kind, text: '', native: scribe.seal(undefined, Object.fromEntries(fields)) },
      })
    },
  }
}

/** Arguments that came before the start of their block wait for it (T132). */
function earlyArguments(scribe: Scribe, index: number): Block & { json: string } {
  return {
    type: '',
    closed: false,
    json: '',
    add(delta) {
      if (typeof delta['partial_json'] === 'string') this.json += delta['partial_json']
    },
    close() {
      if (this.json !== '') scribe.calls.open({ index, args: this.json })
    },
  }
}

function ignored(): Block {
  return { type: '', closed: false, add: () => undefined, close: () => undefined }
}

/** What kind of delta this is; a proxy may leave out the type. */
function kindOf(delta: Fields): string {
  if (typeof delta['type'] === 'string') return delta['type']
  return (
    [...TYPES.keys()].find((type) => KEYS.get(type) !== undefined && delta[KEYS.get(type) ?? ''] !== undefined) ?? ''
  )
}

function parsed(json: string): Json | undefined {
  try {
    return JSON.parse(json) as Json
  } catch {
    return undefined
  }
}

/** The blocks of which every delta is known; of others, everything is kept. */
const UNDERSTOOD = new Set(['text', 'thinking', 'tool_use'])

const TYPES: ReadonlyMap<string, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
  ['input_json_delta', 'tool_use'],
])

const KEYS: ReadonlyMap<string, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'signature'],
  ['input_json_delta', 'partial_json'],
])
