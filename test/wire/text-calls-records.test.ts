import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { createTextCallParser, type ParsedTextCalls } from '../../src/wire/text-calls/text-call-parser.ts'
import { type Random, startRandom } from '../support/mutate-random.ts'
import { root, shared } from '../support/paths.ts'

/** What a model wrote, and the calls that it means; see ../shared/text-calls/README.md. */
interface TextCallRecord {
  readonly id: string
  readonly dialect: string
  readonly text: string
  readonly tools: readonly { readonly name: string; readonly schema?: JsonObject | null }[]
  readonly expect: { readonly calls: readonly { readonly name: string; readonly args: JsonObject }[] }
  readonly negative?: boolean
}

/** Of the records of a dialect: how many there are, and how many are read right; the others stay text. */
interface DialectResult {
  readonly dialect: string
  readonly records: number
  readonly right: number
}

const folder = join(shared, 'text-calls')
const skip = existsSync(folder) ? false : 'the folder ../shared/text-calls is absent'
const records: readonly TextCallRecord[] = skip
  ? []
  : readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as TextCallRecord[])

/** The figures of docs/text-calls.md. DRAGOMAN_TEXT_CALLS=write writes them; then run npm run docs. */
const resultsPath = join(root, 'test/wire/text-call-results.json')
const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

describe('public records of calls written as text', { skip }, () => {
  test('at least 92 % are read right, none wrong, and no call is found where there is none', () => {
    const outcomes = records.map((record) => ({ record, outcome: judge(record) }))
    const list = (kind: string): string[] =>
      outcomes.flatMap(({ record, outcome }) => (outcome === kind ? [record.id] : []))
    assert.deepEqual(list('wrong'), [])
    const missed = list('missed')
    assert.ok(missed.length <= 0.08 * records.length, `${missed.length} of ${records.length}:\n${missed.join('\n')}`)
    const results = [...new Set(records.map(({ dialect }) => dialect))].sort().map((dialect): DialectResult => {
      const own = outcomes.filter(({ record }) => record.dialect === dialect)
      return { dialect, records: own.length, right: own.filter(({ outcome }) => outcome === 'right').length }
    })
    if (process.env['DRAGOMAN_TEXT_CALLS'] === 'write') {
      writeFileSync(resultsPath, `[\n${results.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`)
    }
    assert.deepEqual(JSON.parse(readFileSync(resultsPath, 'utf8')), results, 'the figures of the page are others')
  })

  test('a stream gives the same calls and text, however it is split', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const random = startRandom(SEED)
    for (const record of records) {
      const pieces = splitAtRandom(record.text, random)
      const message = `${record.id}, as ${JSON.stringify(pieces)}, seed ${SEED}`
      assert.deepEqual(decodeStream(record, pieces), decodeBody(record), message)
      const whole = parse(record, [record.text])
      assert.deepEqual(parse(record, record.text.split('')), whole, `${record.id}, by character`)
      for (let round = 0; round < 2; round++) {
        const other = splitAtRandom(record.text, random)
        assert.deepEqual(parse(record, other), whole, `${record.id}, as ${JSON.stringify(other)}, seed ${SEED}`)
      }
    }
  })
})

function parse(record: TextCallRecord, pieces: readonly string[]): ParsedTextCalls {
  const parser = createTextCallParser(declare(record))
  const shown = pieces.map((piece) => parser.push(piece)).join('')
  const { text, ...end } = parser.end({ endedNormally: true, hasNativeCalls: false })
  return { ...end, text: shown + text }
}

function declare({ tools }: TextCallRecord): ToolSpec[] {
  return tools.map(({ name, schema }) => ({ name, description: '', schema: schema ?? { type: 'object' } }))
}

function judge(record: TextCallRecord): 'right' | 'missed' | 'wrong' {
  const { calls, rejected } = decodeBody(record)
  const found = calls.map(({ name, input }) => ({ name, args: input }))
  const expected = record.expect.calls.map(({ name, args }) => ({ name, args }))
  if (isDeepStrictEqual(found, expected) && rejected.length === 0) return 'right'
  return found.length === 0 && rejected.length === 0 && !record.negative ? 'missed' : 'wrong'
}

interface Decoded {
  readonly calls: readonly { readonly name: string; readonly input: JsonObject | undefined }[]
  /** Calls that were found, but may not run. */
  readonly rejected: readonly string[]
  readonly text: string
}

function decodeBody(record: TextCallRecord): Decoded {
  const choices = [{ index: 0, message: { role: 'assistant', content: record.text }, finish_reason: 'stop' }]
  return decode(record, JSON.stringify({ object: 'chat.completion', choices }), 'application/json')
}

function decodeStream(record: TextCallRecord, pieces: readonly string[]): Decoded {
  const deltas = pieces.map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }))
  const chunks = [...deltas, { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }]
  const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`)
  return decode(record, events.join(''), 'text/event-stream')
}

function decode(record: TextCallRecord, body: string, contentType: string): Decoded {
  const context = { turnKey: 'k'.repeat(20), profile: openaiChat.profile, tools: declare(record) }
  const { turn } = decodeResponse(openaiChat, context, [Buffer.from(body)], contentType)
  const { calls, rejected } = splitRunnableCalls(turn)
  return {
    calls: calls.map(({ name, input }) => ({ name, input })),
    rejected: rejected.map(({ call }) => call.name),
    text: turn.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join(''),
  }
}

function splitAtRandom(text: string, random: Random): string[] {
  const pieces: string[] = []
  for (let at = 0; at < text.length;) {
    const end = at + 1 + Math.floor(random.next() ** 2 * 40)
    pieces.push(text.slice(at, end))
    at = end
  }
  return pieces
}
