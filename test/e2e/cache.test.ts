import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json as readJson } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import { analyzeCacheUse, formatCacheReport } from '../../src/cli/command/sessions/cache-report.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { SessionLog } from '../../src/session/store/store.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { dragoman, stage as commandStage } from '../support/command.ts'
import { agentOf, modelOn, play, rehearse } from '../support/stage.ts'
import { clearAway } from '../support/clear.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-cache-'))
const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
  clearAway(place)
})

async function rehearsal(steps: RehearsalScript['steps']): Promise<RehearsalServer> {
  const server = await rehearse(steps)
  servers.push(server)
  return server
}

const count = tool({
  name: 'count',
  description: 'Counts.',
  parameters: { type: 'object', properties: { n: { type: 'integer' } } },
  effects: () => [],
  execute: (input) => `counted ${JSON.stringify(input)} `.repeat(40),
})

/** The places that differ, one list for each request. */
const differing = (log: SessionLog) => analyzeCacheUse(log.entries).map(({ differs }) => differs)

/** Is the one request the beginning of the other? Only the brackets at its end may be missing. */
function extended(server: RehearsalServer, at: number): boolean {
  const [before, next] = [server.requests[at - 1], server.requests[at]].map((one) => one?.bytes.toString() ?? '')
  return (next ?? '').startsWith((before ?? '').replace(/[\]}]+$/, ''))
}

for (const wire of wireIds) {
  describe(`why did the cache miss, on the ${wire} wire`, () => {
    const folder = mkdtempSync(join(place, 'sessions-'))
    const steps: RehearsalScript['steps'] = [
      { call: [{ name: 'count', args: { n: 1 } }], usage: { input: 100, cacheRead: 0 } },
      { say: 'One.', usage: { input: 20, cacheRead: 100 } },
      { say: 'Two.' },
      { say: 'Three.' },
      { say: 'Four.' },
      { say: 'Five.' },
    ]
    const start = (
      server: RehearsalServer,
      log: SessionLog,
      more: Partial<AgentContext> = {},
      on: WireId = wire,
    ): AgentContext => agentOf(modelOn(on, server), [count], { session: resumeSession(log), ...more })

    test('requests that go on from the one before, over a resumed session and a fork', async () => {
      const server = await rehearsal(steps)
      const store = jsonlStore(folder)
      const first = await store.create({ id: 'first', folder: '/' })
      await play(start(server, first), 'begin')
      await first.close()
      // Another process: nothing is left of the first writer.
      const again = await jsonlStore(folder).open('first')
      await play(start(server, again), 'go on')
      await again.close()

      const lines = analyzeCacheUse((await store.read('first')).entries)
      assert.deepEqual(
        lines.map(({ bytes }) => bytes),
        server.requests.map(({ bytes }) => bytes.length),
      )
      assert.deepEqual(
        lines.map(({ differs }) => differs),
        [['the first request'], [], []],
      )
      // The envelope of one wire names the prompt; all else must be as it says.
      if (wire !== 'code-assist') for (const at of [1, 2]) assert.ok(extended(server, at), `request ${at + 1}`)
      assert.deepEqual([lines[1]?.input_tokens, lines[1]?.cached_tokens], [120, 100])
      assert.equal(lines[1]?.cached_share, 100 / 120)

      const seq = (await store.read('first')).entries.at(-1)?.seq ?? 0
      const fork = await store.create({ id: 'fork', folder: '/', parent: { session: 'first', seq } })
      await play(start(server, fork), 'another way')
      await fork.close()
      // Where the session's name is part of the request, that is what differs, and nothing else.
      const named = wire === 'gemini' || wire === 'interactions' || wire === 'anthropic' ? [] : ['the settings']
      assert.deepEqual(analyzeCacheUse((await store.read('fork')).entries).at(-1)?.differs, named)
      assert.deepEqual(server.failures, [])
    })

    test('another system prompt, other tools, another model', async () => {
      const server = await rehearsal(steps)
      const log = await jsonlStore(folder).create({ id: 'changed', folder: '/' })
      const agent = start(server, log)
      await play(agent, 'begin')
      await play({ ...agent, system: 'You are tested otherwise.' }, 'go on')
      const more = { ...count, spec: { ...count.spec, name: 'count_more' } }
      await play(
        agentOf(agent.model, [count, more], { session: agent.session, system: 'You are tested otherwise.' }),
        'on',
      )
      const other: WireId = wire === 'anthropic' ? 'openai-chat' : 'anthropic'
      const moved = start(server, log, { session: agent.session }, other)
      await play(moved, 'and elsewhere')
      await log.close()
      const [, , system, tools, model] = analyzeCacheUse((await jsonlStore(folder).read('changed')).entries)
      assert.deepEqual(system?.differs, ['the system prompt'])
      assert.deepEqual(tools?.differs, ['the tools'])
      assert.match(model?.differs[0] ?? '', /^the model \(was /)
      assert.deepEqual(server.failures, [])
    })

    test('a history that was summarised, in this process and in the next', async () => {
      const big = { usage: { input: 900, output: 10 } }
      const server = await rehearsal([
        { when: { user: 'about to be replaced' }, say: 'The person wants to count.' },
        { when: { user: 'go on' }, say: 'More.', usage: { input: 10 } },
        { when: { results: '"n":2' }, say: 'Done.', usage: { input: 10 } },
        { call: [{ name: 'count', args: { n: 1 } }], ...big },
        { call: [{ name: 'count', args: { n: 2 } }], ...big },
      ])
      const log = await jsonlStore(folder).create({ id: 'summed', folder: '/' })
      const agent = start(server, log)
      await play({ ...agent, model: { ...agent.model, window: 1000 } }, 'count, please')
      await log.close()
      const again = await jsonlStore(folder).open('summed')
      await play(start(server, again), 'go on')
      await again.close()
      const all = differing((await jsonlStore(folder).read('summed')) as SessionLog)
      assert.equal(all.length, server.requests.length)
      assert.ok(all.some(([why]) => why === 'a request for a summary'))
      const at = all.findLastIndex((differs) => differs.some((one) => one.includes('summarised')))
      assert.ok(at > 0, JSON.stringify(all))
      assert.match(all[at]?.at(-1) ?? '', /^turn 1 \(user\), because the history was summarised$/)
      assert.deepEqual(
        all.slice(at + 1),
        all.slice(at + 1).map(() => []),
        'from there on each goes on from the one before',
      )
      assert.deepEqual(server.failures, [])
    })
  })
}

test('what a request adds to the log does not grow with the history', async () => {
  const server = await rehearsal([
    { loop: [{ call: [{ name: 'count', args: { n: 1 } }] }], times: 60 },
    { say: 'Done.' },
  ])
  const log = await jsonlStore(mkdtempSync(join(place, 'sessions-'))).create({ id: 'long', folder: '/' })
  let n = 0
  const changing = { ...count, run: () => Promise.resolve({ content: `${n++}` }) }
  const agent = agentOf(modelOn('openai-chat', server), [changing], { session: resumeSession(log) })
  await play(agent, 'go')
  await log.close()
  const sizes = agent.session.entries.flatMap((entry) =>
    entry.kind === 'request' ? [JSON.stringify(entry).length] : [],
  )
  assert.equal(sizes.length, 61)
  assert.ok(Math.max(...sizes.slice(5)) <= (sizes[2] ?? 0) + 8, sizes.join(' '))
})

test('dragoman sessions show --cache', async () => {
  const here = await commandStage([
    { call: [{ name: 'list_directory', args: { path: '{cwd}' } }] },
    { say: 'One.' },
    { say: 'Two.' },
  ])
  await dragoman(['-p', 'first'], here)
  await dragoman(['-p', 'second', '--resume'], here)
  const { out, code } = await dragoman(['sessions', 'show', '--cache'], here)
  assert.equal(code, 0)
  assert.match(
    out,
    /^#\s+model\s+bytes\s+input tokens\s+cached\s+share\s+differs in\n1\s+openai-chat\/script\s.*the first request\n/,
  )
  assert.equal(out.match(/extends the previous request/g)?.length, 2)
  const json = JSON.parse((await dragoman(['sessions', 'show', '--cache', '--json'], here)).out) as { bytes: number }[]
  assert.deepEqual(
    json.map(({ bytes }) => bytes),
    here.server.requests.map(({ bytes }) => bytes.length),
  )
  const both = await dragoman(['sessions', 'show', '--cache', '--stats'], here)
  assert.deepEqual([both.code, both.err], [42, 'dragoman: use --stats or --cache, not both\n'])
})

test('OpenAI says why its cache missed, in comparison with the last response, and the report shows it', async () => {
  const response = (id: string, text: string, diagnostics: object) => ({
    id,
    object: 'response',
    status: 'completed',
    model: 'gpt-x',
    output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text }] }],
    usage: { input_tokens: 500, output_tokens: 2 },
    prompt_cache_diagnostics: diagnostics,
  })
  const bodies = await playWithDiagnosis(
    [
      response('resp_1', 'One.', { type: 'unavailable' }),
      response('resp_2', 'Two.', { type: 'cache_miss', reason: 'tools_changed', cache_missed_tokens: 480 }),
      response('resp_3', 'Three.', { type: 'comparison_response_not_found' }),
    ],
    (url) => modelOn('openai-responses', { url }, 'gpt-6-sol'),
    (entries) => {
      const [, second, third] = analyzeCacheUse(entries)
      assert.deepEqual([second?.differs, second?.vendor_reason, second?.missed_tokens], [[], 'tools_changed', 480])
      assert.equal(third?.vendor_reason, 'comparison_response_not_found')
      assert.match(formatCacheReport(analyzeCacheUse(entries)), /the vendor says: tools_changed \(480 tokens\)/)
    },
  )
  assert.deepEqual(
    bodies.map((body) => body['prompt_cache_options']),
    [undefined, { comparison_response_id: 'resp_1' }, { comparison_response_id: 'resp_2' }],
  )
})

test('the vendor says why its cache missed, and the report shows it', async () => {
  const message = (id: string, text: string, reason: object | null) => ({
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 500, output_tokens: 2 },
    diagnostics: { cache_miss_reason: reason },
  })
  const bodies = await playWithDiagnosis(
    [
      message('msg_1', 'One.', null),
      message('msg_2', 'Two.', { type: 'tools_changed', cache_missed_input_tokens: 480 }),
    ],
    (url) => modelOn('anthropic', { url }),
    (entries) => {
      const [, second] = analyzeCacheUse(entries)
      assert.deepEqual([second?.differs, second?.vendor_reason, second?.missed_tokens], [[], 'tools_changed', 480])
      assert.match(formatCacheReport(analyzeCacheUse(entries)), /the vendor says: tools_changed \(480 tokens\)/)
    },
  )
  assert.deepEqual(
    bodies.map(({ diagnostics }) => diagnostics),
    [{ previous_message_id: null }, { previous_message_id: 'msg_1' }],
  )
})

/** Plays one prompt for each answer with a model that is asked why its cache missed, and returns the bodies of the requests. */
async function playWithDiagnosis(
  answers: readonly object[],
  open: (url: string) => ReturnType<typeof modelOn>,
  check: (entries: Parameters<typeof analyzeCacheUse>[0]) => void,
): Promise<Record<string, unknown>[]> {
  const bodies: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      bodies.push(body as Record<string, unknown>)
      response.setHeader('content-type', 'application/json')
      return response.end(JSON.stringify(answers[bodies.length - 1]))
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  try {
    const model = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const store = jsonlStore(mkdtempSync(join(place, 'diagnosis-')))
    const session = resumeSession(await store.create({ id: 'diagnosed', folder: '/' }))
    const agent = agentOf(model, [count], { session, diagnoseCache: true })
    for (const [at] of answers.entries()) await play(agent, `prompt ${at}`)
    check(session.entries)
    await session.close()
  } finally {
    server.close()
  }
  return bodies
}
