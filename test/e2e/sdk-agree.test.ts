import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import { toCanonicalJson } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { wires } from '../support/cases.ts'
import { type Fixture, fixtures, folder } from '../support/fixture.ts'
import { type Canned, type Loopback, startLoopback } from '../support/loopback.ts'
import { type SdkCall, type SdkWay, WAYS, dressed, readWithSdk } from '../support/sdk-readers.ts'
import { DIFFERENCES } from '../support/sdk-table.ts'
import { TOOLS } from '../support/travel.ts'
import { SSE, vendorStream } from '../support/vendor-streams.ts'

/** An answer to be read twice: by us, and by the vendor's own SDK. */
interface Sample extends Canned {
  readonly name: string
  readonly wire: WireId
  readonly ours: readonly SdkCall[]
}

const clean = Object.keys(WAYS).flatMap((wire) => [0, 1, 2].map((calls) => scripted(wire as WireId, calls)))
const odd = (existsSync(folder) ? fixtures() : [])
  .filter(({ given }) => given.wire !== 'code-assist')
  .map(({ name, bytes, given }) => answered(name, bytes, given))

describe("the vendors' own SDKs agree, where they can read", () => {
  let server: Loopback
  const { warn, error } = console
  before(async () => {
    // The SDKs complain about what they cannot read; here that is no news.
    Object.assign(console, { warn: () => undefined, error: () => undefined })
    const samples = [...clean, ...odd]
    const helped = samples.map((one) => [`${one.name}+`, { ...one, bytes: dressed(one.bytes) }] as const)
    server = await startLoopback(
      new Map<string, Canned>([...samples.map((one) => [one.name, one] as const), ...helped]),
    )
  })
  after(async () => {
    Object.assign(console, { warn, error })
    await server.close()
  })

  /** What an SDK makes of a sample: the same calls, others, or nothing. */
  async function verdict(sample: Sample, way: SdkWay): Promise<{ word: Word; detail: string }> {
    const read = await readWithSdk(way, server.base(way === 'openai chat' ? `${sample.name}+` : sample.name))
    if ('cannot' in read) return { word: 'cannot', detail: read.cannot }
    const [theirs, ours] = [toCanonicalJson(read.calls), toCanonicalJson(sample.ours)]
    return { word: theirs === ours ? 'same' : 'other', detail: `it reads ${theirs}, we read ${ours}` }
  }

  it('on clean streams: every SDK, every time', async () => {
    for (const sample of clean)
      for (const way of WAYS[sample.wire]) {
        const { word, detail } = await verdict(sample, way)
        assert.equal(word, 'same', `${way}, ${sample.name}: ${detail}`)
      }
  })

  it(
    'on the fixtures: all differences are known, and every known one is real',
    { skip: odd.length === 0 },
    async () => {
      const counts = new Map<SdkWay, Record<Word, number>>()
      const unknown: string[] = []
      const needed = new Set<string>()
      await inParallel(odd, async (sample) => {
        for (const way of WAYS[sample.wire]) {
          const { word, detail } = await verdict(sample, way)
          const count = counts.get(way) ?? { same: 0, cannot: 0, other: 0 }
          counts.set(way, count)
          count[word]++
          const number = sample.name.split('-')[0] ?? ''
          if (word !== 'other') continue
          needed.add(`${way} ${number}`)
          if (DIFFERENCES[way][number] === undefined) unknown.push(`${way}, ${sample.name}: ${detail}`)
        }
      })
      const stale = Object.entries(DIFFERENCES)
        .flatMap(([way, rows]) => Object.keys(rows).map((number) => `${way} ${number}`))
        .filter((row) => !needed.has(row))
      summary(counts)
      assert.deepEqual(unknown, [], 'a difference that test/support/sdk-table.ts does not explain')
      assert.deepEqual(stale, [], 'a row of test/support/sdk-table.ts that nothing needs any more')
    },
  )
})

type Word = 'same' | 'cannot' | 'other'

/** An answer as its vendor sends it, with nothing odd about it. */
function scripted(wire: WireId, count: number): Sample {
  const calls = [
    { name: 'read_file', args: { path: 'a "quoted" näme' } },
    { name: 'run', args: {} },
  ].slice(0, count)
  const bytes = vendorStream(wire, { signer: wire, round: count, thought: 'Hm.', text: 'I look.', calls })
  const sample = answered(`${wire}-${count}`, bytes, { about: '', wire, tools: TOOLS, contentType: SSE })
  assert.equal(toCanonicalJson(sample.ours), toCanonicalJson(calls))
  return sample
}

/** An answer, and what we make of it. */
function answered(name: string, bytes: Uint8Array, given: Fixture['given']): Sample {
  const { wire, contentType, tools, status, headers, toolChoice } = given
  const reading = {
    turnKey: 'k'.repeat(20),
    profile: { ...wires[wire].profile, ...given.profile },
    tools,
    ...(status !== undefined && { status }),
    ...(headers && { headers }),
    ...(toolChoice !== undefined && { toolChoice }),
  }
  const { turn } = decodeResponse(wires[wire], reading, [bytes], contentType)
  const ours = splitRunnableCalls(turn).calls.map(({ name: called, input }) => ({ name: called, args: input }))
  return { name, wire, ours, bytes, contentType: contentType ?? SSE, status: status ?? 200 }
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

function summary(counts: ReadonlyMap<SdkWay, Record<Word, number>>): void {
  const words = [...counts].map(
    ([way, { same, cannot, other }]) => `${way}: ${same} read alike, ${cannot} not read, ${other} read otherwise`,
  )
  process.stdout.write(`${words.sort().join('; ')}\n`)
}
