import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { usageFrom } from '../../model/usage.ts'
import { classify, findError } from '../fault.ts'
import type { Frame } from '../frame.ts'
import { type Scribe, startScribe } from '../scribe.ts'
import type { Reading } from '../wire.ts'
import { type Channel, type Fields, type Item, describe, finishText, list, settlePiece, word, write } from './items.ts'
import { type Sequence, startSequence } from './sequence.ts'
import { type Table, isRepeat, isWaiting, startTable } from './table.ts'

/** What is known of an answer while it comes in. */
export interface State {
  readonly scribe: Scribe
  readonly table: Table
  readonly sequence: Sequence
  /** Event types that were not understood; each is reported once. */
  readonly unknown: Set<string>
  opened: boolean
  model: boolean
  /** The vendor called an item of a finished answer incomplete. */
  cut: boolean
}

/** Starts reading an answer. */
export function start(reading: Reading): State {
  const scribe = startScribe('openai-responses', reading)
  const [table, sequence] = [startTable(scribe), startSequence()]
  return { scribe, table, sequence, unknown: new Set(), opened: false, model: false, cut: false }
}

/** Reads one frame: an event of a stream, or a whole answer. */
export function step(state: State, frame: Frame): TurnEvent[] {
  const { scribe } = state
  if (frame.kind === 'bad') scribe.taint(`A part of the answer could not be read: ${frame.text.slice(0, 200)}`)
  else if (frame.kind === 'json') {
    if (isObject(frame.value)) event(state, frame.value, frame.event)
    else scribe.warn('odd-frame', `A frame that is no object was ignored: ${JSON.stringify(frame.value).slice(0, 200)}`)
  }
  return scribe.take()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function stop(state: State, fault?: Fault): TurnEvent[] {
  const { scribe } = state
  const { status } = scribe.reading
  if (!scribe.over && !scribe.failed && !fault && status !== undefined && status >= 400)
    fail(state, { message: `HTTP ${status}` })
  return scribe.stop(fault)
}

function event(state: State, value: Fields, name: string | undefined): void {
  const { scribe } = state
  // A delta is no error; there are too many of them to look twice.
  const error = typeof value['delta'] === 'string' ? undefined : findError(value)
  if (error) fail(state, error)
  const type = word(value['type']) ?? name ?? ''
  const response = isObject(value['response']) ? value['response'] : undefined
  if (value['object'] === 'response' || (response === undefined && Array.isArray(value['output'])))
    return terminal(state, value)
  const ending = ENDINGS.get(type)
  if (ending !== undefined) return terminal(state, response ?? {}, ending, value)
  if (state.sequence.repeated(type, value))
    return scribe.warn('repeated-event', `An event ${type} was sent again; the repeat was dropped.`)
  if (response) return open(state, response)
  if (error || type === 'error') return
  if (scribe.over) return scribe.warn('late-event', `An event ${type} after the end was ignored (T56).`)
  const handle = HANDLERS.get(type)
  if (handle) handle(state, value)
  else if (!HARMLESS.test(type) && !state.unknown.has(type)) {
    state.unknown.add(type)
    scribe.warn('unknown-event', `Events of type “${type.slice(0, 80)}” were not understood.`)
  }
}

/** An item begins. One that its deltas have opened already is only named now (T140). */
function added({ table }: State, value: Fields): void {
  const data = itemIn(value)
  if (!data) return
  const known = table.find(value, data)
  const again = known && isAgain(known, data)
  const same = known && !known.done && (!known.announced || again)
  const item = same ? known : table.enter(value, data['type'])
  // Arguments that were whole before their call was announced, under another id, may be another call's.
  const strange = item.argued && item.ids.size > 0 && !item.ids.has(String(data['id']))
  if (item.slot && strange) item.slot.ambiguous = true
  item.announced = true
  item.early = data['arguments'] ?? data['input']
  describe(item, data)
}

/** Is this an item that was announced before? Two calls may have one id (T10), but not as one item. */
function isAgain({ ids, slot }: Item, data: Fields): boolean {
  const id = word(data['id'])
  if (id !== undefined && ids.size > 0) return ids.has(id)
  if (!slot || slot.wireId !== word(data['call_id'])) return false
  return slot.names[0] === undefined || slot.names[0] === word(data['name'])
}

/** An item is whole. What it says now counts, whatever came before (T140). */
function done(state: State, value: Fields): void {
  const data = itemIn(value)
  if (!data) return
  const known = state.table.find(value, data)
  if (known?.done && isRepeat(known, data)) return
  finish(state, known && !known.done ? known : state.table.enter(value, data['type']), data)
}

/** Takes over what a finished item says, and closes it. */
function finish(state: State, item: Item, data: Fields): void {
  const { scribe } = state
  item.done = true
  describe(item, data)
  if (data['status'] === 'incomplete') state.cut = true
  const { slot } = item
  if (slot) {
    const args = data['arguments'] ?? data['input']
    if (!isNothing(args)) {
      scribe.calls.settle(slot, args)
      slot.ambiguous = false
    } else if (slot.raw === '') scribe.calls.settle(slot, item.early)
    // The vendor says that the call has no arguments: those that came were another's.
    else if (args !== undefined && args !== null) slot.ambiguous = true
    scribe.calls.close(slot)
  } else if (item.kind === 'other') finishOther(state, item, data)
  else finishText(scribe, item, data)
}

/** What the vendor ran itself is kept for the vendor, in its place. */
function finishOther({ scribe }: State, item: Item, data: Fields): void {
  if (data['status'] !== undefined && data['status'] !== 'completed') {
    return scribe.warn('unfinished-item', `An item of type ${item.type} did not finish; it is not kept.`)
  }
  scribe.run('text', item.part).close(scribe.seal(word(data['id']), data as JsonObject))
}

/** The arguments of a call, in pieces or whole. */
function argued(state: State, value: Fields, type: string): void {
  const { calls } = state.scribe
  // Nothing makes no call (T28).
  if (value['delta'] === '') return
  const item = state.table.place(value, type)
  const { slot } = item
  if (!slot || item.done) return late(state, 'Arguments')
  if (slot.names.length === 0 && word(value['name']) !== undefined) slot.names = [String(value['name'])]
  if (!item.ids.has(word(value['item_id']) ?? '')) doubt(state, item.index)
  if (value['delta'] !== undefined) {
    return item.argued ? late(state, 'Arguments') : calls.extend(slot, { args: value['delta'] })
  }
  const args = value['arguments'] ?? value['input']
  // Whole arguments after other whole arguments are those of another call.
  if (item.argued && !isNothing(args) && args !== slot.raw) slot.ambiguous = true
  item.argued = true
  calls.settle(slot, args)
}

/** A piece without a known id may belong to any open call in its place; only an item that is whole clears that up. */
function doubt({ table }: State, index: number | undefined): void {
  const waiting = table.open().filter((item) => item.slot && isWaiting(item) && (item.index ?? index) === index)
  if (waiting.length > 1) for (const { slot } of waiting) if (slot) slot.ambiguous = true
}

/** A piece of text, or the whole of one. */
function spoken(state: State, value: Fields, channel: Channel): void {
  const item = state.table.place(value, channel === 'text' || channel === 'refusal' ? 'message' : 'reasoning')
  if (item.done) return late(state, 'Text')
  const at = Number(value['content_index'] ?? value['summary_index'] ?? 0)
  if (typeof value['delta'] === 'string') return write(state.scribe, item, channel, at, value['delta'])
  const part = isObject(value['part']) ? value['part'] : value
  const text = part['text'] ?? part['refusal']
  if (typeof text === 'string') settlePiece(state.scribe, item, channel, at, text)
}

function late({ scribe }: State, what: string): void {
  scribe.warn('late-piece', `${what} for an item that was whole already came late and was ignored (T140).`)
}

function partDone(state: State, value: Fields): void {
  const channel = isObject(value['part']) ? PARTS.get(String(value['part']['type'])) : undefined
  if (channel) spoken(state, value, channel)
}

/** The end of an answer: its list of items fills in whatever was not seen, and repeats nothing that was (T140). */
function terminal(state: State, response: Fields, ending?: string, value?: Fields): void {
  const { scribe, table, sequence } = state
  open(state, response)
  usage(state, response['usage'])
  if (scribe.over) return
  if (value) sequence.repeated(ending ?? '', value)
  const output = list(response['output'])
  let unseen = 0
  let other = false
  for (const [position, data] of output.entries()) {
    const known = table.listed(data, position)
    const item = known ?? table.enter({}, data['type'])
    if (!known && item.slot) unseen++
    item.listed = true
    if (item.done && item.slot && !isRepeat(item, data)) other = true
    if (!item.done) finish(state, item, data)
  }
  if (other || (unseen > 0 && table.items.some((item) => item.slot && !item.listed)))
    scribe.taint('The list at the end names other calls than those that came.')
  // Without the list nobody knows what was in the events that did not arrive.
  if (sequence.gap !== undefined) {
    if (output.length === 0) scribe.taint(sequence.gap)
    else scribe.warn('missing-events', `${sequence.gap} The list at the end made up for it.`)
  }
  for (const item of table.items) if (!item.done && item.kind !== 'other') leave(state, item, output.length > 0)
  end(state, response, ending)
}

/** The end of an item that never ended. A call of which nothing came and which the list does not know was none. */
function leave(state: State, item: Item, listed: boolean): void {
  const { slot } = item
  const twin = state.table.hasTwin(item)
  const made = item.argued || slot?.raw !== '' || !isNothing(item.early)
  if (!slot || made || !(listed || twin)) return finish(state, item, {})
  state.scribe.warn('ghost-call', 'A call that was announced and never made was ignored (T140).')
  state.scribe.calls.drop(slot)
}

function end(state: State, response: Fields, ending: string | undefined): void {
  const { scribe } = state
  const why = isObject(response['incomplete_details']) ? word(response['incomplete_details']['reason']) : undefined
  // An event that says it is the end, is; but a response that says it went wrong, did (T143).
  const said = word(response['status'])
  const status =
    ending === undefined || (ending === 'completed' && said !== undefined && !UNENDED.has(said)) ? said : ending
  if (scribe.failed || status === 'failed') {
    fail(state, { message: 'The endpoint says that the answer failed.' })
    return scribe.ended('fault', status ?? '')
  }
  if (status === 'incomplete' || (status === undefined && why !== undefined)) {
    return scribe.ended(
      why === 'content_filter' ? 'filter' : 'length',
      ['incomplete', ...(why === undefined ? [] : [why])].join(':'),
    )
  }
  if (status === 'cancelled') return scribe.ended('aborted', status)
  if (status === undefined ? !Array.isArray(response['output']) : UNENDED.has(status)) return
  if (status !== undefined && status !== 'completed') {
    scribe.warn('unknown-finish', `The answer ended with the unknown word “${status}” (T54).`)
    if (scribe.calls.count > 0)
      scribe.fail({ kind: 'decode', message: `The answer ended with the unknown word “${status}”.` })
  }
  scribe.ended(state.cut ? 'length' : 'stop', status ?? '')
}

/** Says who answers, as soon as it is known; some servers name the model only at the end. */
function open(state: State, response: Fields): void {
  const id = word(response['id'])
  const model = word(response['model'])
  if (state.opened && (state.model || model === undefined)) return
  state.opened = true
  state.model = model !== undefined
  state.scribe.emit({ type: 'open', ...(id !== undefined && { id }), ...(model !== undefined && { model }) })
}

function usage(state: State, value: unknown): void {
  if (!isObject(value)) return
  const input = isObject(value['input_tokens_details']) ? value['input_tokens_details'] : {}
  const output = isObject(value['output_tokens_details']) ? value['output_tokens_details'] : {}
  const report = {
    input: value['input_tokens'],
    cacheRead: input['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    output: value['output_tokens'],
    reasoning: output['reasoning_tokens'],
  }
  state.scribe.usage(usageFrom({ ...report, inputHoldsCache: true, outputHoldsReasoning: true }))
}

function fail({ scribe }: State, error: Parameters<typeof classify>[0]): void {
  const { status, headers } = scribe.reading
  scribe.fail(classify(error, { ...(status !== undefined && { status }), ...(headers && { headers }) }))
}

function itemIn(value: Fields): Fields | undefined {
  return isObject(value['item']) ? value['item'] : undefined
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The events that end an answer, and the word for each that its response should carry (T143). */
const ENDINGS = new Map(
  Object.entries({
    'response.completed': 'completed',
    'response.done': 'completed',
    'response.incomplete': 'incomplete',
    'response.failed': 'failed',
    'response.cancelled': 'cancelled',
  }),
)

const UNENDED = new Set(['in_progress', 'queued'])

/** What the parts of an item are called, and where their text goes. */
const PARTS = new Map<string, Channel>(
  Object.entries({
    output_text: 'text',
    text: 'text',
    refusal: 'refusal',
    summary_text: 'summary',
    reasoning_text: 'thought',
  }),
)

const speaking = (channel: Channel) => (state: State, value: Fields) => spoken(state, value, channel)
const arguing = (type: string) => (state: State, value: Fields) => argued(state, value, type)

const HANDLERS = new Map<string, (state: State, value: Fields) => void>(
  Object.entries({
    'response.output_item.added': added,
    'response.output_item.done': done,
    'response.output_text.delta': speaking('text'),
    'response.output_text.done': speaking('text'),
    'response.refusal.delta': speaking('refusal'),
    'response.refusal.done': speaking('refusal'),
    'response.reasoning_summary_text.delta': speaking('summary'),
    'response.reasoning_summary_text.done': speaking('summary'),
    'response.reasoning_text.delta': speaking('thought'),
    'response.reasoning_text.done': speaking('thought'),
    'response.content_part.done': partDone,
    'response.reasoning_summary_part.done': partDone,
    'response.function_call_arguments.delta': arguing('function_call'),
    'response.function_call_arguments.done': arguing('function_call'),
    'response.custom_tool_call_input.delta': arguing('custom_tool_call'),
    'response.custom_tool_call_input.done': arguing('custom_tool_call'),
  }),
)

/** Events that tell of progress, and nothing that the items do not say too. */
const HARMLESS =
  /^(?:ping|keepalive|codex\.\w+|response\.(?:metadata|heartbeat|content_part\.added|reasoning_(?:summary_)?part\.(?:added|done)|output_text\.annotation\.added|(?:web_search|file_search|code_interpreter|image_generation|mcp|shell|apply_patch|computer|local_shell|tool_search)_\w+.*))$/
