import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { QUIRK_DETECTORS } from '../../src/doctor/quirks/quirk-detectors.ts'
import type { ExaminationOptions } from '../../src/doctor/examine-endpoint.ts'
import {
  type Misbehaviour,
  SIMPLE_MISBEHAVIOURS,
  type SimpleMisbehaviourKind,
  getAffectedWires,
} from '../../src/rehearsal/misbehaviour/misbehaviour.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { admit, examined, ill } from './support.ts'

/** The misbehaviours that have something to set, in the forms that look different from outside. */
const SET: readonly Misbehaviour[] = [
  { kind: 'cut' },
  { kind: 'cut', at: 'start' },
  { kind: 'cut', at: 'text', how: 'reset' },
  { kind: 'cut', at: 'frame', how: 'end' },
  { kind: 'stall' },
  { kind: 'stall', at: 'start' },
  { kind: 'drip', every: 20 },
  { kind: 'trickle', bytes: 5 },
  ...(
    [
      'crlf',
      'cr',
      'mixed',
      'bom',
      'no-space',
      'two-spaces',
      'multi-line',
      'comments',
      'fields',
      'no-last-blank',
      'ndjson',
    ] as const
  ).map((style) => ({ kind: 'framing', style }) as const),
  ...[400, 401, 403, 404, 408, 422, 429, 451, 500, 503, 529].map((status) => ({ kind: 'status', status }) as const),
  { kind: 'status', status: 503, body: 'html' },
  { kind: 'status', status: 500, body: 'empty' },
  { kind: 'html' },
  { kind: 'half-json' },
  { kind: 'redirect' },
  { kind: 'content-type', value: 'text/plain' },
  { kind: 'content-type', value: 'application/json' },
  { kind: 'corrupt' },
  { kind: 'error' },
  { kind: 'text-call' },
  { kind: 'text-call', dialect: 'kimi' },
  { kind: 'text-call', dialect: 'glm' },
  { kind: 'length' },
  { kind: 'length', lie: true },
  { kind: 'finish-wrong' },
]

const ALL: readonly Misbehaviour[] = [
  ...(Object.keys(SIMPLE_MISBEHAVIOURS) as SimpleMisbehaviourKind[]).map((kind) => ({ kind })),
  ...SET,
]

/** Answers that never end are waited for a moment only. */
const IMPATIENT: Partial<ExaminationOptions> = { timeouts: { firstByte: 400, idle: 400, quiet: 400 }, maxAttempts: 1 }

// Each has a server of its own, and some wait for answers that never end.
describe('each misbehaviour is found, and nothing else', { concurrency: 6 }, () => {
  test('there are 43, and each is tried', () => {
    assert.equal(new Set(ALL.map(({ kind }) => kind)).size, 43)
    assert.deepEqual([...new Set(ALL.map(({ kind }) => kind))].sort(), QUIRK_DETECTORS.map(({ id }) => id).sort())
  })

  for (const [at, one] of ALL.entries()) {
    const wires = getAffectedWires(one.kind)
    // The first form of each on every wire; the others on one, which changes from form to form.
    const first = ALL.find(({ kind }) => kind === one.kind) === one
    for (const wire of first ? wires : wires.slice(at % wires.length).slice(0, 1)) {
      test(`${JSON.stringify(one)} on ${wire}`, async () => {
        const server = await admit(ill(one))
        try {
          const report = await examined(wire, server.url, /stall|drip/.test(one.kind) ? IMPATIENT : {})
          assert.deepEqual(
            report.findings.map(({ id }) => id),
            [one.kind],
            JSON.stringify(report.findings),
          )
        } finally {
          await server.close()
        }
      })
    }
  }
})

test('the dialect of calls written as text is named', async () => {
  for (const [dialect, id] of [
    ['kimi', 'tokens'],
    ['glm', 'glm'],
  ] as const) {
    const server = await admit(ill({ kind: 'text-call', dialect }))
    try {
      const { findings } = await examined('openai-chat', server.url)
      assert.match(findings[0]?.said ?? '', new RegExp(`\\(dialect ${id}\\)`))
    } finally {
      await server.close()
    }
  }
})

describe('nothing is found where nothing is odd', () => {
  for (const wire of wireIds) {
    test(wire, async () => {
      const server = await admit()
      try {
        const report = await examined(wire, server.url)
        assert.deepEqual(report.findings, [])
        assert.deepEqual(
          report.behaviours.filter(({ status }) => status !== 'passes'),
          [],
        )
        assert.equal(report.behaviours.length, 30)
        assert.deepEqual([report.usable, report.learnt], [true, {}])
        assert.deepEqual(server.failures, [])
      } finally {
        await server.close()
      }
    })
  }
})

/** Every kind can be seen in some form; in these forms nobody can tell it from outside, and this is why. */
const ALIKE: readonly [why: string, one: Misbehaviour, found: readonly string[]][] = [
  ['a pause that ends in time is only slow', { kind: 'stall', ms: 20 }, []],
  ['signs of life that come to an end are comments', { kind: 'drip', at: 'start', every: 5, ms: 10 }, ['framing']],
  [
    'cut off in good order before the last event is an end without its word',
    { kind: 'cut', at: 'before-end', how: 'end' },
    ['finish-missing'],
  ],
]

describe('what looks like something else from outside', () => {
  for (const [why, one, found] of ALIKE) {
    test(`${JSON.stringify(one)}: ${why}`, async () => {
      const server = await admit(ill(one))
      try {
        const { findings } = await examined('anthropic', server.url)
        assert.deepEqual(
          findings.map(({ id }) => id),
          found,
        )
      } finally {
        await server.close()
      }
    })
  }
})
