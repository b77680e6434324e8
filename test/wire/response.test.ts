import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TurnEvent } from '../../src/model/event.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import type { AssistantPart, AssistantTurn, FinishReason } from '../../src/model/turn.ts'
import { stringifyWithRawJson } from '../../src/wire/json/raw-json.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { cutText, type Random, startRandom } from '../support/mutate-random.ts'

const TOOLS = ['read_file', 'write_file'].map((name) => ({ name, description: '', schema: { type: 'object' } }))
const USAGE = { input: 90, cacheRead: 10, cacheWrite: 0, output: 20, reasoning: 4 }
const HEAD = {
  id: 'r1',
  model: 'm',
  created: 1_700_000_000,
  request: { stream_options: { include_usage: true }, include: ['reasoning.encrypted_content'] },
}
const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)

for (const id of wireIds) {
  describe(`${id}: a response that was written is read as it was meant`, async () => {
    const wire = await loadWire(id)

    test(`300 random turns, streamed and whole (DRAGOMAN_SEED=${seed})`, () => {
      const dice = startRandom(seed)
      for (let round = 0; round < 300; round++) {
        const turn = randomTurn(wire, dice)
        const note = `round ${round}: ${JSON.stringify(turn.parts)}`
        assert.deepEqual(meaning(readStream(wire, streamed(wire, eventsOf(turn, dice)))), meaning(turn), note)
        assert.deepEqual(meaning(readWhole(wire, wire.responseWriter.writeWhole(turn, HEAD))), meaning(turn), note)
      }
    })

    test('parts that were open side by side are written one after the other', () => {
      const turn = turnOf(wire, [
        call('c1', '{"path":"a"}'),
        { kind: 'text', text: 'And.' },
        call('c2', '{"path":"b"}'),
      ])
      const [first, text, second] = turn.parts as [AssistantPart, AssistantPart, AssistantPart]
      const events: TurnEvent[] = [
        { type: 'open' },
        { type: 'part-open', index: 0, kind: 'call', id: 'c1', name: 'read_file' },
        { type: 'part-delta', index: 0, kind: 'call', text: '{"path"' },
        { type: 'part-open', index: 1, kind: 'text' },
        // Of this one neither id nor name is known before its end.
        { type: 'part-open', index: 2, kind: 'call' },
        { type: 'part-delta', index: 1, kind: 'text', text: 'And.' },
        { type: 'part-delta', index: 2, kind: 'call', text: '{"path":"b"}' },
        { type: 'part-close', index: 2, part: second },
        { type: 'part-delta', index: 0, kind: 'call', text: ':"a"}' },
        { type: 'part-close', index: 0, part: first },
        { type: 'part-close', index: 1, part: text },
        { type: 'usage', usage: USAGE },
        { type: 'finish', ...turn.finish },
      ]
      assert.deepEqual(meaning(readStream(wire, streamed(wire, events))).parts.sort(), meaning(turn).parts.sort())
    })

    test('arguments are written as they are: long numbers, repeated keys', () => {
      const raw = '{"path":"x","n":12345678901234567890.10,"n":1e400,"deep":[[[[[{}]]]]]}'
      const body = stringifyWithRawJson(wire.responseWriter.writeWhole(turnOf(wire, [call('c1', raw)]), HEAD))
      assert.ok(body.includes(raw) || body.includes(JSON.stringify(raw)), body)
    })

    test('an error is read as an error, by itself and inside of a stream', () => {
      const error = { status: 429, message: 'Rate limit reached.' }
      const alone = readFrames(wire, [stringifyWithRawJson(wire.responseWriter.writeError(error))], 429)
      assert.equal(alone.finish.fault?.kind, 'rate')
      const begun = streamed(wire, [{ type: 'open' }, { type: 'part-open', index: 0, kind: 'text' }])
      const { event, data } = wire.responseWriter.writeErrorFrame({ status: 500, message: 'The server had an error.' })
      const broken = readStream(wire, [
        ...begun,
        `${event === undefined ? '' : `event: ${event}\n`}data: ${stringifyWithRawJson(data)}\n\n`,
      ])
      assert.equal(broken.finish.reason, 'fault')
      assert.equal(broken.finish.fault?.kind, 'server')
    })
  })
}

function call(id: string, raw: string): AssistantPart {
  return { kind: 'call', id, name: 'read_file', raw }
}

function turnOf(wire: Wire, parts: readonly AssistantPart[], reason?: FinishReason): AssistantTurn {
  const hasCalls = parts.some(({ kind }) => kind === 'call')
  return {
    role: 'assistant',
    origin: { provider: 'p', wire: wire.id, model: 'm' },
    parts,
    finish: { reason: reason ?? (hasCalls ? 'calls' : 'stop') },
    usage: USAGE,
  }
}

/** Texts stand apart from texts, as a model writes them: two in a row would be read as one. */
function randomTurn(wire: Wire, dice: Random): AssistantTurn {
  const parts: AssistantPart[] = []
  if (dice.chance(0.5)) parts.push({ kind: 'reasoning', text: words(dice) })
  if (dice.chance(0.7)) parts.push({ kind: 'text', text: words(dice) })
  for (let at = dice.below(4); at > 0; at--)
    parts.push(
      call(`call_${at}`, JSON.stringify({ path: words(dice), n: dice.below(1000), list: [words(dice), null] })),
    )
  if (parts.every(({ kind }) => kind === 'reasoning')) parts.push({ kind: 'text', text: words(dice) })
  return turnOf(
    wire,
    parts,
    parts.some(({ kind }) => kind === 'call') ? undefined : dice.pick(['stop', 'length', 'filter']),
  )
}

function words(dice: Random): string {
  const some = ['Grüße', '世界', '🌍', '"quoted"', 'back\\slash', 'line\nend', 'x', ' two  blanks ', '\t', '<b>']
  return Array.from({ length: 1 + dice.below(6) }, () => dice.pick(some)).join(' ')
}

function eventsOf(turn: AssistantTurn, dice: Random): TurnEvent[] {
  return [
    { type: 'usage', usage: USAGE },
    { type: 'open' },
    ...turn.parts.flatMap((part, index): TurnEvent[] => {
      const text = part.kind === 'call' ? part.raw : part.kind === 'media' ? '' : part.text
      const pieces = text === '' ? [] : cutText(dice, text, 4).filter(isWhole)
      const sent = pieces.join('') === text ? pieces : [text]
      const known = part.kind === 'call' ? { id: part.id, name: part.name } : {}
      return [
        { type: 'part-open', index, kind: part.kind, ...known },
        ...sent.map((piece): TurnEvent => ({ type: 'part-delta', index, kind: part.kind, text: piece })),
        { type: 'part-close', index, part },
      ]
    }),
    { type: 'finish', ...turn.finish },
  ]
}

/** No piece ends inside of a character. */
function isWhole(piece: string): boolean {
  return !/^[\udc00-\udfff]|[\ud800-\udbff]$/.test(piece)
}

function streamed(wire: Wire, events: readonly TurnEvent[]): string[] {
  const stream = wire.responseWriter.startStream(HEAD)
  return events
    .flatMap((event) => stream.write(event))
    .map(
      ({ event, data, raw }) =>
        `${event === undefined ? '' : `event: ${event}\n`}data: ${raw ?? stringifyWithRawJson(data)}\n\n`,
    )
}

function readStream(wire: Wire, texts: readonly string[]): AssistantTurn {
  return readFrames(wire, texts, 200, 'text/event-stream')
}

function readWhole(wire: Wire, body: unknown): AssistantTurn {
  return readFrames(wire, [stringifyWithRawJson(body)], 200)
}

function readFrames(wire: Wire, texts: readonly string[], status: number, type = 'application/json'): AssistantTurn {
  const reading = { turnKey: 'k', profile: wire.profile, tools: TOOLS, status }
  return decodeResponse(
    wire,
    reading,
    texts.map((text) => Buffer.from(text)),
    type,
  ).turn
}

function meaning({ parts, finish, usage }: AssistantTurn) {
  return {
    parts: parts.map((part) =>
      JSON.stringify(
        part.kind === 'call'
          ? [part.name, part.input ?? JSON.parse(part.raw)]
          : part.kind === 'media'
            ? []
            : [part.kind, part.text],
      ),
    ),
    reason: finish.reason,
    usage,
  }
}
