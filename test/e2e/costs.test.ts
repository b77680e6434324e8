import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { agent } from '../../src/agent/library/create-agent.ts'
import { createCatalog } from '../../src/provider/catalog.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { dragoman, stage } from '../support/command.ts'
import { agentOf, modelOn, play } from '../support/stage.ts'

type Stage = Awaited<ReturnType<typeof stage>>

function settle(here: Stage, config: JsonObject): void {
  const folder = join(here.home, '.config/dragoman')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
}

/** A dollar for ten thousand tokens read, ten for as many written. */
const PRICED = { catalog: { 'openai-chat/script': { price: { input: 100, output: 1000, cacheRead: 10 } } } }

const LOOK = { call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }

describe('--max-cost', () => {
  test('with a price that nobody knows it is refused in one sentence, and nothing is sent', async () => {
    const here = await stage([{ say: 'ok' }])
    const { code, err } = await dragoman(['-p', 'go', '--max-cost', '1'], here)
    assert.equal(code, 42)
    assert.match(err, /^dragoman: --max-cost needs a price, and that of openai-chat\/script is unknown; .*\n$/)
    assert.equal(here.server.requests.length, 0)
    const scripted = await dragoman(['-m', 'rehearsal/hello', '-p', 'go', '--max-cost', '1'], here)
    assert.equal(scripted.code, 42)
  })

  test('what does not fit any more is not sent, and the session goes on with more money', async () => {
    const here = await stage([
      { loop: [{ ...LOOK, say: '{n}', usage: { input: 2000, output: 100 } }], times: 5 },
      { say: 'Done.' },
    ])
    settle(here, PRICED)
    const { code, err, out } = await dragoman(['-p', 'go', '--max-cost', '5', '-o', 'stream-json'], here)
    assert.equal(code, 53)
    assert.equal(err, '')
    const lines = out
      .trim()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as { type: string; cost_usd?: number; stats?: { cost_usd: number }; status?: string },
      )
    const costs = lines.flatMap((line) => (line.type === 'usage' ? [line.cost_usd] : []))
    assert.ok(Math.abs((costs[0] ?? 0) - 0.3) < 1e-9, 'the first turn costs 30 cents')
    const spent = lines.at(-1)?.stats?.cost_usd ?? Infinity
    assert.ok(spent <= 5, `${spent} dollars were spent`)
    // 4096 tokens are set aside for an answer, and they alone cost four dollars here.
    assert.ok(here.server.requests.length >= 1 && here.server.requests.length < 5, String(here.server.requests.length))
    assert.match(out, /The budget is not sufficient: \$[\d.]+ of \$5\.00 are spent, and this request may cost \$[\d.]+/)
    const more = await dragoman(['-p', 'go on', '--resume', '--max-cost', '500'], here)
    assert.equal(more.code, 0)
  })

  test('in the library', async () => {
    const here = await stage([{ loop: [{ say: 'Again.', usage: { input: 2000, output: 100 } }] }])
    const model = modelOn('openai-chat', here.server)
    const priced = { ...model, origin: { ...model.origin, provider: 'openai', model: 'gpt-5.2' } }
    const cheap = agent({ model: priced, limits: { cost: 0.000_001 } })
    const end = await cheap.run('go')
    assert.equal(end.finish, 'cost-limit')
    assert.equal(here.server.requests.length, 0)
    const unpriced = await agent({ model, limits: { cost: 1 } }).run('go')
    assert.deepEqual([unpriced.finish, unpriced.fault?.code], ['cost-limit', 'budget'])
  })
})

test('sessions show --stats: what was used and done, from the log alone', async () => {
  const here = await stage([
    { ...LOOK, usage: { input: 1000, cacheRead: 500, output: 10, reasoning: 0 } },
    {
      call: [
        { name: 'write_file', args: { file_path: '{cwd}/new.txt', content: 'one\ntwo\n' } },
        { name: 'read_file', args: { absolute_path: '{cwd}/none.txt' } },
        { name: 'run_shell_command', args: { command: 'echo more > new.txt' } },
      ],
      usage: { input: 100, output: 20 },
    },
    { say: 'Done.', usage: { input: 10, output: 5 } },
  ])
  settle(here, PRICED)
  assert.equal((await dragoman(['-p', 'go', '--allowed-tools', 'write_file'], here)).code, 0)
  const stats = JSON.parse((await dragoman(['sessions', 'show', '--stats', '--json'], here)).out) as {
    prompts: number
    turns: number
    requests: number
    cost_usd: number
    api_ms: number
    tool_ms: number
    usage: object
    lines: object
    models: Record<string, { turns: number; cost_usd: number }>
    tools: Record<string, { count: number; ok: number; failed: number; denied: number; lines: object }>
  }
  assert.deepEqual([stats.prompts, stats.turns, stats.requests], [1, 3, 3])
  assert.deepEqual(stats.usage, { input: 1110, cacheRead: 500, cacheWrite: 0, output: 35, reasoning: 0 })
  const cost = (1110 * 100 + 500 * 10 + 35 * 1000) / 1e6
  assert.ok(Math.abs(stats.cost_usd - cost) < 1e-9, String(stats.cost_usd))
  assert.equal(stats.models['openai-chat/script']?.turns, 3)
  const counted = Object.fromEntries(
    Object.entries(stats.tools).map(([name, { count, ok, failed, denied }]) => [name, [count, ok, failed, denied]]),
  )
  assert.deepEqual(counted, {
    list_directory: [1, 1, 0, 0],
    write_file: [1, 1, 0, 0],
    read_file: [1, 0, 1, 0],
    run_shell_command: [1, 0, 0, 1],
  })
  assert.deepEqual(stats.lines, { model_added: 2, model_removed: 0, person_added: 0, person_removed: 0 })
  assert.ok(stats.api_ms > 0 && stats.tool_ms >= 0)
  const { out } = await dragoman(['sessions', 'show', '--stats'], here)
  assert.match(out, /tokens\s+1.645\s+\(1.110 input, 500 read from cache, 0 written to cache, 35 output, 0 reasoning\)/)
  assert.match(out, /cost\s+\$0\.1510\n/)
  assert.match(out, /lines\s+model \+2 −0, user \+0 −0/)
  assert.match(out, /write_file\s+1\s+1\s+0\s+0\s+0\s.*\+2 −0\n/)
})

test('an unknown price is said, and is not nothing', async () => {
  const here = await stage([{ say: 'ok' }])
  const json = JSON.parse((await dragoman(['-p', 'go', '-o', 'json'], here)).out) as { stats: { cost_usd: unknown } }
  assert.equal(json.stats.cost_usd, null)
  const { out } = await dragoman(['sessions', 'show', '--stats'], here)
  assert.match(out, /cost\s+unknown: no price for openai-chat\/script\n/)
})

test('answers that were of no use were paid for as well, and are in the log', async () => {
  const empty = { misbehave: ['empty' as const], usage: { input: 50, output: 0 } }
  const here = await stage([
    { ...empty, when: { request: 1 } },
    { say: 'Well.', usage: { input: 60, output: 1 } },
  ])
  settle(here, PRICED)
  assert.equal((await dragoman(['-p', 'go'], here)).code, 0)
  const stats = JSON.parse((await dragoman(['sessions', 'show', '--stats', '--json'], here)).out) as {
    faults: number
    requests: number
    turns: number
    usage: { input: number }
  }
  assert.deepEqual([stats.faults, stats.requests, stats.turns, stats.usage.input], [1, 2, 1, 110])
})

test('the window of the catalogue says when a history is summarised, where nothing else does', async () => {
  const steps = [
    { when: { user: 'about to be replaced' }, say: 'The person wants to count.' },
    { when: { results: '"n":2' }, say: 'Done.', usage: { input: 10 } },
    { call: [{ name: 'count', args: { n: 1 } }], usage: { input: 3000 } },
    { call: [{ name: 'count', args: { n: 2 } }], usage: { input: 3000 } },
  ]
  const count = tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } } },
    effects: () => [],
    execute: (input) => `counted ${JSON.stringify(input)} `.repeat(100),
  })
  for (const [window, summarised] of [
    [5000, true],
    [50_000, false],
  ] as const) {
    const here = await stage(steps)
    const catalog = () => Promise.resolve(createCatalog({ 'openai-chat/script': { window } }))
    const events = await play(agentOf(modelOn('openai-chat', here.server), [count], { catalog }), 'count, please')
    assert.equal(
      events.some((event) => event.type === 'compact' && event.done),
      summarised,
      `a window of ${window}`,
    )
    assert.deepEqual(here.server.failures, [])
  }
})

describe('--resume', () => {
  const other = (here: Stage): Stage['env'] => ({
    ...here.env,
    DRAGOMAN_OPENAI_BASE_URL: `${here.server.url}/v1`,
    DRAGOMAN_MODEL: 'openai/script',
  })

  test('goes on with the model of the session, unless another is named', async () => {
    const here = await stage([{ say: 'One.' }, { say: 'Two.' }, { say: 'Three.' }, { say: 'Four.' }])
    await dragoman(['-p', 'a', '-m', 'openai-chat/script'], here)
    const env = other(here)
    await dragoman(['-p', 'b', '--resume'], { ...here, env })
    await dragoman(['-p', 'c', '--fork'], { ...here, env })
    await dragoman(['-p', 'd', '--resume', '-m', 'openai/script'], { ...here, env })
    assert.deepEqual(
      here.server.requests.map(({ wire }) => wire),
      ['openai-chat', 'openai-chat', 'openai-chat', 'openai-responses'],
    )
    assert.deepEqual(here.server.failures, [])
  })

  test('says so when it cannot', async () => {
    const here = await stage([{ say: 'One.' }, { say: 'Two.' }])
    const gone = { ...here.env, ANTHROPIC_API_KEY: 'k', DRAGOMAN_ANTHROPIC_BASE_URL: `${here.server.url}/v1` }
    await dragoman(['-p', 'a', '-m', 'anthropic/script'], { ...here, env: gone })
    const { code, err, out } = await dragoman(['-p', 'b', '--resume'], here)
    assert.equal(code, 0)
    assert.equal(out, 'Two.\n')
    assert.match(
      err,
      /This session used anthropic\/script, which is not available: anthropic needs a key.* Continuing with openai-chat\/script\./,
    )
  })
})

test('what a command does not take, it refuses', async () => {
  const here = await stage([{ say: 'ok' }])
  const wrong: [string[], RegExp][] = [
    [['-p', 'x', '--max-turns', '1.5'], /--max-turns needs a whole number above 0, not “1\.5”/],
    [['-p', 'x', '--max-cost', 'Infinity'], /--max-cost needs a number/],
    [['sessions', 'list', 'extra'], /unexpected argument “extra”; see dragoman sessions list/],
    [['sessions', 'show', 'latest', 'extra'], /unexpected argument “extra”; see dragoman sessions show/],
    [['sessions', 'show', '--json'], /--json needs --stats or --cache/],
  ]
  for (const [args, sentence] of wrong) {
    const { code, err } = await dragoman(args, here)
    assert.equal(code, 42, args.join(' '))
    assert.match(err, sentence)
  }
  assert.equal(here.server.requests.length, 0)
})
