import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../src/model/json.ts'
import type {
  AssistantPart,
  AssistantTurn,
  CallPart,
  Finish,
  MediaPart,
  ResultPart,
  TextPart,
  Turn,
} from '../../src/model/turn.ts'
import { type Maker, sealed, signed, vendorItems } from './native.ts'
import { ELSEWHERE, WIRES, sealMark } from './seals.ts'

/** Whatever people, tools and models write, and what is left of it after somebody cut it in the middle. */
export const words = fc.constantFrom(
  'hello',
  'two\nlines',
  '',
  ' ',
  '\n\n',
  'half \uD83D',
  '\uDE00 half',
  'whole \u{1F600}',
  'a\0b',
  '\0',
  '</tool_response>',
  '<tool_call>{"name":"x"}</tool_call>',
  'é ü 漢字',
  '"quotes" and \\ backslashes',
  'error: it broke',
)

/** Names of tools: declared ones, forgotten ones, and what models made of them (T104). */
export const toolNames = fc.constantFrom(
  'read_file',
  'run',
  'patch',
  'mcp.server.tool',
  '$READFILE',
  'x<|channel|>',
  'forgotten',
  '1st',
  'ünïcode',
  'long_'.repeat(40),
  '__proto__',
  'parallel',
)

const keys = fc.constantFrom('path', 'limit', 'filter[id]', 'a b', '__proto__', 'constructor', 'k\uD800', '')

const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    { weight: 4, arbitrary: words },
    { weight: 3, arbitrary: fc.constantFrom<Json>(0, 1, -1.5, 1e21, true, false, null) },
    { weight: 1, arbitrary: fc.array(tie('json'), { maxLength: 3 }) },
    { weight: 1, arbitrary: fc.dictionary(keys, tie('json'), { maxKeys: 3, noNullPrototype: true }) },
  ),
})).json

const input = fc.dictionary(keys, json, { maxKeys: 3, noNullPrototype: true }) as fc.Arbitrary<JsonObject>

const media: fc.Arbitrary<MediaPart> = fc.constantFrom<MediaPart>(
  { kind: 'media', mime: 'image/png', data: 'iVBORw0K' },
  { kind: 'media', mime: 'image/png', data: 'iVBORw0K', name: 'half \uD83D.png' },
  { kind: 'media', mime: 'image/tiff', data: 'iVBORw0K' },
  { kind: 'media', mime: 'image/svg+xml', data: 'PHN2Zz4=', name: 'a.svg' },
  { kind: 'media', mime: 'application/pdf', data: 'JVBERi0=', name: 'a.pdf' },
  { kind: 'media', mime: 'audio/wav', data: 'UklGRg==' },
  { kind: 'media', mime: 'text/plain', data: 'aGk=' },
  { kind: 'media', mime: 'image/png', data: '' },
  { kind: 'media', mime: 'image/png' },
  { kind: 'media', mime: 'image/*', uri: 'https://example.com/a.png' },
  { kind: 'media', mime: 'application/pdf', uri: 'https://example.com/a.pdf' },
  { kind: 'media', mime: 'video/mp4', uri: 'gs://bucket/a.mp4' },
)

const text: fc.Arbitrary<TextPart> = words.map((said) => ({ kind: 'text', text: said }))

/** A media part that only its own vendor can show. */
const vendorMedia: fc.Arbitrary<MediaPart> = fc.constantFrom(...WIRES).map((wire) => {
  const data = { type: 'document', source: { type: 'file', file_id: sealMark(wire, wire) } }
  return { kind: 'media', mime: 'application/octet-stream', native: { wire, signer: wire, data } }
})

const said = fc.array(
  fc.oneof({ weight: 5, arbitrary: text }, { weight: 2, arbitrary: media }, { weight: 1, arbitrary: vendorMedia }),
  { maxLength: 3 },
)

/** Ids of calls: few, so that they meet; of all wires, and illegal on most. */
const ids = fc.constantFrom(
  'k0000000000000000000A0000',
  'k0000000000000000000A0001',
  'k0000000000000000000B0000',
  'toolu_01AbcDef',
  'functions.read_file:0',
  'call|with+odd/chars=',
  'a'.repeat(450),
  'ünï\uD800',
  'nine00001',
  '',
)

const flaws = fc.constantFrom<CallPart['flaw'] | undefined>(
  undefined,
  undefined,
  undefined,
  { code: 'unfinished', message: 'It broke off.' },
  { code: 'not-json', message: 'No JSON.' },
)

const calls: fc.Arbitrary<CallPart> = fc
  .record({
    id: ids,
    name: fc.oneof({ weight: 12, arbitrary: toolNames }, { weight: 1, arbitrary: fc.constant('') }),
    input,
    flaw: flaws,
    how: fc.nat(9),
  })
  .map(({ id, name, input: given, flaw, how }): CallPart => {
    const call = { kind: 'call', id, name } as const
    if (flaw) return { ...call, raw: '{"path": "half \uD83D', flaw }
    if (how === 0) return { ...call, raw: 'free text \uD83D', input: { input: 'free text \uD83D' }, freeform: true }
    if (how === 1) return { ...call, raw: '{broken' }
    // Vendors write JSON with spaces, and escape as they like.
    return { ...call, raw: JSON.stringify(given, null, how > 6 ? 2 : 0), input: given }
  })

const finishes = fc.constantFrom<Finish>(
  { reason: 'stop' },
  { reason: 'calls' },
  { reason: 'stop', raw: 'pause_turn' },
  { reason: 'length' },
  { reason: 'aborted' },
  { reason: 'fault', fault: { kind: 'transport', message: 'cut' } },
)

const assistantParts: fc.Arbitrary<readonly AssistantPart[]> = fc.array(
  fc.oneof<fc.WeightedArbitrary<AssistantPart>[]>(
    { weight: 4, arbitrary: calls },
    { weight: 3, arbitrary: text },
    { weight: 2, arbitrary: words.map((thought) => ({ kind: 'reasoning', text: thought })) },
    { weight: 1, arbitrary: media },
    { weight: 1, arbitrary: words.map((words_) => ({ kind: 'text', text: words_, refusal: true })) },
  ),
  { maxLength: 5 },
)

function assistants(chatIds: Maker['ids']): fc.Arbitrary<AssistantTurn> {
  return fc
    .record({
      wire: fc.constantFrom(...WIRES),
      elsewhere: fc.boolean(),
      parts: assistantParts,
      finish: finishes,
      seeds: fc.array(fc.nat(100), { minLength: 6, maxLength: 6 }),
    })
    .map(({ wire, elsewhere, parts, finish, seeds }): AssistantTurn => {
      const signer = elsewhere ? ELSEWHERE : wire
      const maker: Maker = { wire, signer, ids: chatIds }
      const made = parts.map((part, at) => (seeds[5] === 0 ? part : sealed(part, maker, seeds[at] ?? 0)))
      const items = (seeds[5] ?? 0) % 4 === 1 ? vendorItems(maker, seeds[0] ?? 0) : []
      const at = (seeds[1] ?? 0) % (made.length + 1)
      const whole = [...made.slice(0, at), ...items, ...made.slice(at)]
      return {
        role: 'assistant',
        origin: { provider: signer, wire, model: 'm' },
        parts: signed(whole, maker),
        finish: finish.raw === undefined || pauses(whole) ? finish : { reason: 'stop' },
      }
    })
}

/** An answer pauses only while a tool of the server runs (T135). */
function pauses(parts: readonly AssistantPart[]): boolean {
  return parts.some((part) => JSON.stringify(part.native?.data ?? '').includes('server_tool_use'))
}

const answers = fc.record({
  status: fc.constantFrom<ResultPart['status']>('ok', 'ok', 'error', 'denied', 'cancelled', 'interrupted'),
  content: fc.array(fc.oneof({ weight: 3, arbitrary: text }, { weight: 1, arbitrary: media }), { maxLength: 3 }),
  data: fc.option(json, { nil: undefined, freq: 4 }),
  error: fc.option(
    words.map((message) => ({ message })),
    { nil: undefined, freq: 4 },
  ),
})

interface Move {
  readonly kind: 'user' | 'note' | 'assistant' | 'results'
  readonly said: readonly (TextPart | MediaPart)[]
  readonly note: string
  readonly turn: AssistantTurn
  readonly answers: readonly (Pick<ResultPart, 'status' | 'content'> & {
    data: Json | undefined
    error: { message: string } | undefined
  })[]
  /** Which results come, and in which order: places among the open calls; a place beyond them is an orphan. */
  readonly order: readonly number[]
}

/** Histories of every nastiness: interrupts, orphans, duplicates, foreign ids and seals, half characters, empty turns. */
export function histories(chatIds: Maker['ids'], maxLength = 9): fc.Arbitrary<Turn[]> {
  const move: fc.Arbitrary<Move> = fc.record({
    kind: fc.constantFrom<Move['kind']>('user', 'assistant', 'assistant', 'assistant', 'results', 'results', 'note'),
    said,
    note: words,
    turn: assistants(chatIds),
    answers: fc.array(answers, { minLength: 6, maxLength: 6 }),
    order: fc.oneof(fc.constant([0, 1, 2, 3, 4]), fc.array(fc.nat(6), { maxLength: 6 })),
  })
  return fc.array(move, { maxLength, size: '+1' }).map((moves) => {
    let open: CallPart[] = []
    return moves.map((one): Turn => {
      if (one.kind === 'user') return { role: 'user', parts: one.said }
      if (one.kind === 'note') return { role: 'note', text: one.note }
      if (one.kind === 'assistant') {
        open = one.turn.parts.filter((part) => part.kind === 'call')
        return one.turn
      }
      return { role: 'results', parts: one.order.flatMap((at, n) => result(open[at], one.answers[n], at)) }
    })
  })
}

function result(call: CallPart | undefined, answer: Move['answers'][number] | undefined, at: number): ResultPart[] {
  if (!answer || (!call && at < 5)) return []
  const { status, content, data, error } = answer
  const named = call ? { id: call.id, name: call.name } : { id: 'an orphan', name: 'read_file' }
  return [{ kind: 'result', ...named, status, content, ...(data !== undefined && { data }), ...(error && { error }) }]
}
