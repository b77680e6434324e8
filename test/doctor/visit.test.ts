import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { PROBES } from '../../src/doctor/probes/all-probes.ts'
import { QUIRK_DETECTORS } from '../../src/doctor/quirks/quirk-detectors.ts'
import type { ExaminationReport } from '../../src/doctor/examine-endpoint.ts'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import { doctorScript } from '../../src/rehearsal/builtin-scripts/doctor.ts'
import { admit, examined, ill } from './support.ts'

async function visited(
  t: TestContext,
  script: RehearsalScript,
  wire: Parameters<typeof examined>[0] = 'openai-chat',
  more: Parameters<typeof examined>[2] = {},
): Promise<ExaminationReport> {
  const server = await admit(script)
  t.after(() => server.close())
  return examined(wire, server.url, more)
}

/** The patient with other steps before his own. */
function but(...steps: ScriptStep[]): RehearsalScript {
  return { ...doctorScript, steps: [...steps, ...doctorScript.steps] }
}

const statusOf = (report: ExaminationReport, id: number) => report.behaviours.find((one) => one.id === id)?.status

test('thirty behaviours, in order, each with its failures and what to do', () => {
  assert.deepEqual(
    PROBES.map(({ id }) => id),
    Array.from({ length: 30 }, (_none, at) => at + 1),
  )
  for (const { title, failureIds, advice } of PROBES) {
    assert.match(failureIds, /^T\d/, title)
    assert.match(advice, /^[A-Z].*\.$/, title)
  }
  for (const { failureIds } of QUIRK_DETECTORS) assert.match(failureIds, /^T\d/)
})

describe('it says in words what is going on', () => {
  test('and that it is handled', async (t) => {
    const report = await visited(t, ill('index-zero'))
    assert.deepEqual(
      report.findings.map(({ said }) => said),
      ['This server gives every call the index 0: handled (T02).'],
    )
    assert.equal(report.usable, true)
    assert.equal(statusOf(report, 4), 'passes')
  })

  test('or that it is not', async (t) => {
    const report = await visited(t, ill('malformed-call'))
    assert.equal(report.usable, false)
    assert.equal(statusOf(report, 3), 'fails')
    assert.match(report.behaviours.find(({ id }) => id === 3)?.advice ?? '', /trained to call tools/)
  })

  test('and the words of the model are in quotes, apart from ours', async (t) => {
    const report = await visited(t, but({ when: { user: 'What is the weather in Oslo' }, say: 'Done: ok.' }))
    const said = report.behaviours.map((one) => one.said)
    assert.ok(
      said.some((words) => words.startsWith('The model answered with text instead of a call: “Done: ok.”')),
      said.join('\n'),
    )
  })
})

describe('flags that it learns', () => {
  test('streams that cannot be read: answers are asked for whole', async (t) => {
    const report = await visited(t, ill('corrupt' as never))
    assert.deepEqual([report.learnt, report.usable], [{ stream: false }, true])
  })

  test('thoughts in the text', async (t) => {
    const report = await visited(t, ill('think-in-text'))
    assert.deepEqual(report.learnt, { think: true })
  })

  test('the window of a server that has little of it (T160)', async (t) => {
    const message = 'request (2691 tokens) exceeds the available context size (2048 tokens), try increasing it'
    const small = { kind: 'status', status: 400, message } as const
    const report = await visited(t, but({ when: { user: 'How many rules' }, misbehave: [small] }))
    assert.deepEqual([statusOf(report, 28), report.learnt], ['not offered', { window: 2048 }])
  })

  test('arguments written as HTML (T42)', async (t) => {
    const args = { key: 'alpha', value: 5, note: 'if a &lt; b &amp;&amp; c &gt; d' }
    const report = await visited(t, but({ when: { user: 'Set the key alpha' }, call: [{ name: 'set_value', args }] }))
    assert.deepEqual([statusOf(report, 16), report.learnt], ['degraded', { entities: true }])
  })

  test('calls only where the tools are described in the prompt', async (t) => {
    const deaf = { user: 'weather in Oslo? Use the tool', turns: 0, system: { not: 'get_weather' } } as const
    const told = { ...deaf, system: 'get_weather' } as const
    // Results come in the words of the person then.
    const answered = { when: { user: '7 degrees' }, say: 'It rains, at 7 degrees.' }
    const written = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    const report = await visited(t, but({ when: deaf, say: 'It may rain.' }, { when: told, say: written }, answered))
    assert.deepEqual(report.learnt, { tools: 'text' })
    assert.deepEqual([statusOf(report, 3), statusOf(report, 6), report.usable], ['degraded', 'passes', true])
  })
})

describe('what an endpoint need not have', () => {
  test('no cache, no thoughts, one call at a time, no words beside it', async (t) => {
    const report = await visited(
      t,
      but(
        { when: { user: 'How many rules' }, say: '120' },
        { when: { user: 'six weeks' }, say: '45' },
        { when: { user: 'Oslo and in Lima' }, call: [{ name: 'get_weather', args: { city: 'Oslo' } }] },
      ),
    )
    for (const id of [4, 10, 28]) assert.equal(statusOf(report, id), 'not offered', String(id))
    assert.equal(report.usable, true)
  })

  test('a question that is refused is no sign of a bad server', async (t) => {
    const refused = { kind: 'status', status: 400, message: 'Notes are beyond me.' } as const
    const report = await visited(t, but({ when: { user: 'What is the word' }, misbehave: [refused] }))
    assert.deepEqual(
      report.behaviours.filter(({ status }) => status !== 'passes').map(({ id, status, said }) => [id, status, said]),
      [[29, 'not offered', 'The endpoint rejected the request: Notes are beyond me.']],
    )
    assert.deepEqual(report.findings, [])
  })
})

test('with a limit of tokens it stops asking, and says so', async (t) => {
  const report = await visited(t, doctorScript, 'openai-chat', { maxTokens: 6000, concurrency: 1 })
  assert.ok(report.tokens <= 6000, String(report.tokens))
  const [last] = report.behaviours.filter(({ status }) => status === 'not offered')
  assert.match(last?.said ?? '', /token budget of this run is used up/)
})

test('a model that falls out of its loop, lies about its length or ignores a limit', async (t) => {
  const report = await visited(
    t,
    but(
      { when: { user: 'Call take_step', turns: 2 }, say: 'Enough.' },
      { when: { user: 'about the sea' }, call: [{ name: 'write_note', args: { text: 'The sea.' } }] },
      {
        when: { user: 'Set the key alpha' },
        call: [{ name: 'set_value', args: { key: 'gamma', value: 5, note: '' } }],
      },
    ),
  )
  const degraded = report.behaviours
    .filter(({ status }) => status === 'degraded')
    .map(({ id, said }) => `${id}: ${said}`)
  assert.equal(degraded.length, 3, degraded.join('\n'))
  assert.match(
    degraded.join('\n'),
    /7: The model stopped after 2 rounds\.\n16: The arguments do not match the schema: .*\n18: The endpoint ignored/,
  )
})
