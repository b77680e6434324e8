import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import type { ApprovalRequest, ApprovalOutcome, ValidCall } from '../../src/agent/calls/call-state.ts'
import { type ScheduleAction, findReadyCalls, reduceSchedule, createSchedule } from '../../src/agent/calls/schedule.ts'
import type { CallPart, ResultPart } from '../../src/model/turn.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import type { Effect } from '../../src/policy/effect.ts'
import { systemClock } from '../../src/provider/clock.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { tool, type ToolDefinition } from '../../src/tool/custom-tool.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { createToolbox } from '../../src/tool/toolbox.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'

const servers: RehearsalServer[] = []
after(async () => {
  for (const server of servers) await server.close()
})

/** Plays a script to its end with these tools; gives the events, and what was sent last. */
async function played(steps: RehearsalScript['steps'], tools: readonly Tool[], more: Partial<AgentContext> = {}) {
  const server = await rehearse(steps)
  servers.push(server)
  const events = await play(agentOf(modelOn('openai-chat', server), tools, more), 'go')
  assert.deepEqual(server.failures, [])
  return { events, server, sent: server.requests.at(-1)?.bytes.toString() ?? '', end: closing(events) }
}

function named(name: string, execute: ToolDefinition['execute'] = () => `ran ${name}`, more = {}): Tool {
  const parameters = { type: 'object', properties: {} }
  return tool({ name, description: name, parameters, effects: () => [], execute, ...more })
}

const calls = (...names: string[]) => ({ call: names.map((name) => ({ name, args: {} })) })

test('many calls that run at the same time cause no warning of Node', async () => {
  const warnings: string[] = []
  const onWarning = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', onWarning)
  let running = 0
  let most = 0
  const read = named('read_file', async () => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 50))
    running -= 1
    return 'a line'
  })
  await played([calls(...Array.from({ length: 40 }, () => 'read_file')), { say: 'Ah.' }], [read])
  process.off('warning', onWarning)
  assert.ok(most > 11, `${most} at the same time`)
  assert.deepEqual(warnings, [])
})

describe('names', () => {
  test('T161 an unknown tool is an error with the nearest names and all names, paired with its call', async () => {
    const { sent, end } = await played([calls('raed_file'), { say: 'Ah.' }], [named('read_file'), named('grep')])
    assert.equal(end.text, 'Ah.')
    assert.match(sent, /There is no tool “raed_file”\. Did you mean read_file\? The tools are: read_file, grep\./)
  })

  const FOUND: readonly (readonly [id: string, name: string, means: string])[] = [
    ['T162', 'functions.read_file', 'read_file'],
    ['T162', 'default_api:read_file', 'read_file'],
    ['T162', 'default_api.read_file', 'read_file'],
    ['T162', 'tools.read_file', 'read_file'],
    ['T162', 'read_file<|channel|>commentary', 'read_file'],
    ['T162', 'read_file json', 'read_file'],
    ['T162', '$read_file', 'read_file'],
    ['T162', 'read_file()', 'read_file'],
    ['T162', ' read_file ', 'read_file'],
    ['T162', 'mcp__pond__echo', 'pond__echo'],
    ['T162', 'echo', 'pond__echo'],
    ['T162', 'disk__read_file', 'read_file'],
    ['T163', 'ReadFile', 'read_file'],
    ['T163', 'read-file', 'read_file'],
    ['T163', 'READ_FILE', 'read_file'],
  ]
  const box = createToolbox(
    ['read_file', 'pond__echo', 'write_file', 'lake__dive', 'pond__dive'].map((name) => named(name)),
  )
  for (const [id, name, means] of FOUND) {
    test(`${id} “${name}” means ${means}`, () => {
      const found = box.find(name)
      assert.equal('tool' in found && found.tool.spec.name, means)
    })
  }

  for (const name of ['dive', 'sea__dive', 'read', 'file', 'rm', '', '__', 'constructor']) {
    test(`T162 “${name}” could mean none or several, and runs nothing`, () => assert.ok('problem' in box.find(name)))
  }
})

describe('states', () => {
  const call = (id: string): CallPart => ({ kind: 'call', id, name: 'x', raw: '{}', input: {} })
  const doing = (...effects: Effect[]): ValidCall => ({ tool: named('x'), input: {}, effects })
  const allow = (id: string, ...effects: Effect[]): ScheduleAction => ({
    type: 'allow',
    id,
    valid: doing(...effects),
    terms: { decision: { by: 'policy', outcome: 'allowed', rule: 'test' } },
  })
  const result = (id: string, status: ResultPart['status'] = 'ok'): ResultPart => ({
    kind: 'result',
    id,
    name: 'x',
    status,
    content: [],
  })
  const write = (path: string): Effect => ({ kind: 'write', path })
  const then = (state: ReturnType<typeof createSchedule>, ...actions: ScheduleAction[]) =>
    actions.reduce(reduceSchedule, state)

  test('T166 what does not conflict starts side by side, what does in order, and nothing before it is allowed', () => {
    const all = createSchedule(['a', 'b', 'c'].map(call))
    assert.deepEqual(findReadyCalls(all), [])
    assert.deepEqual(findReadyCalls(then(all, allow('c', write('/1')))), [], 'what is before it is not known yet')
    const known = then(all, allow('a', write('/1')), allow('b', write('/2')), allow('c', write('/1')))
    assert.deepEqual(findReadyCalls(known), ['a', 'b'])
    const begun = then(known, { type: 'start', id: 'a', at: 0 })
    assert.deepEqual(findReadyCalls(begun), ['b'])
    assert.deepEqual(findReadyCalls(then(begun, { type: 'settle', id: 'a', result: result('a'), ms: 1 })), ['b', 'c'])
  })

  test('T165 what has ended stays as it ended, whatever comes later', () => {
    const cancelled = then(createSchedule(['a', 'b'].map(call)), allow('a'), { type: 'start', id: 'a', at: 0 }, STOP)
    assert.deepEqual(
      cancelled.calls.map(({ status }) => status),
      ['cancelled', 'cancelled'],
    )
    const late = then(cancelled, { type: 'settle', id: 'a', result: result('a'), ms: 1 }, allow('b'), STOP)
    assert.deepEqual(late.calls, cancelled.calls)
    assert.deepEqual(findReadyCalls(late), [])
  })

  test('a call that was not allowed cannot be started', () => {
    const state = then(createSchedule([call('a')]), { type: 'start', id: 'a', at: 0 })
    assert.equal(state.calls[0]?.status, 'validating')
  })

  const STOP: ScheduleAction = { type: 'cancel', reason: 'cancelled' }
})

describe('time', () => {
  test('a tool that takes too long is stopped, and the model is told', async () => {
    let stopped = false
    const slow = named(
      'slow',
      (_input, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => (stopped = true), { once: true })
        }),
      { timeout: 30 },
    )
    const { sent, end } = await played([calls('slow', 'quick'), { say: 'Ah.' }], [slow, named('quick')])
    assert.equal(end.text, 'Ah.')
    assert.match(sent, /slow timed out after 0\.03 s\./)
    assert.match(sent, /ran quick/)
    assert.ok(stopped, 'it is told to stop')
  })

  test('a tool of one’s own has 30 seconds, a built-in one as long as it takes', async () => {
    assert.equal(named('x').timeout, 30_000)
    const { createShellTool } = await import('../../src/tool/builtin/run-shell-command.ts')
    assert.equal(createShellTool().timeout, undefined)
  })

  test('progress reaches the person at most once a second', async () => {
    let now = 0
    const chatty = named('chatty', (_input, { progress }) => {
      for (let at = 0; at < 30; at++, now += 100) progress(`step ${at}`)
      return 'done'
    })
    const clock = { ...systemClock, now: () => now }
    const { events } = await played([calls('chatty'), { say: 'Ah.' }], [chatty], { clock })
    const shown = events.flatMap((event) => (event.type === 'progress' ? [event.text] : []))
    assert.deepEqual(shown, ['step 0', 'step 10', 'step 20'])
  })

  test('the time limit of a run stops a tool in the middle; its call has a result', async () => {
    const slow = named('slow', () => new Promise((resolve) => setTimeout(resolve, 60_000).unref()))
    const { events, end } = await played([calls('slow')], [slow], { limits: { ms: 3000 } })
    assert.equal(end.reason, 'time-limit')
    const result = events.find((event) => event.type === 'entry' && event.entry.kind === 'result')
    assert.match(JSON.stringify(result), /The run reached its time limit\. slow had started and was stopped/)
  })

  test('and an answer in the middle', async () => {
    const { end } = await played([{ say: 'Long. '.repeat(200), pace: 50 }], [], { limits: { ms: 300 } })
    assert.equal(end.reason, 'time-limit')
  })
})

describe('questions', () => {
  const policy = () => approvalPolicy({ mode: 'default', folders: ['/'] })
  const asked = named('asked', () => 'ran asked', { effects: undefined })

  /** Has the tool called twice, the person answering the first question like this; gives how often it was asked and run. */
  async function answered(outcome: ApprovalOutcome, words?: string) {
    let asks = 0
    const ask = (one: ApprovalRequest) => {
      asks++
      return Promise.resolve({ ask: one.id, outcome, ...(words !== undefined && { words }) })
    }
    const steps = [calls('asked'), calls('asked'), { say: 'Done.' }]
    const { sent, events } = await played(steps, [asked], { requestApproval: ask, policy: policy() })
    return { asks, sent, ran: (sent.match(/ran asked/g) ?? []).length, events }
  }

  test('once is once', async () => {
    const { asks, ran } = await answered('proceed-once')
    assert.deepEqual([asks, ran], [2, 2])
  })

  test('always is asked once', async () => {
    const { asks, ran } = await answered('proceed-always')
    assert.deepEqual([asks, ran], [1, 2])
  })

  test('no, with words that the model hears', async () => {
    const { asks, ran, sent } = await answered('cancel', 'rather the other file')
    assert.deepEqual([asks, ran], [2, 0])
    assert.match(sent, /The user refused this call\. Comment: rather the other file/)
  })

  test('nobody to ask: a denial with its reason, and the run goes on', async () => {
    const { sent, end } = await played([calls('asked'), { say: 'Done.' }], [asked], { policy: policy() })
    assert.equal(end.reason, 'done')
    assert.match(sent, /There is no user to ask/)
    assert.doesNotMatch(sent, /ran asked/)
  })

  test('the states that a person sees, in order', async () => {
    const { events } = await answered('proceed-once')
    const states = events.flatMap((event) => (event.type === 'call' ? [event.call.status] : []))
    assert.deepEqual(states.slice(0, 5), ['validating', 'awaiting-approval', 'scheduled', 'executing', 'success'])
  })
})

test('a summary that saves nothing is paid for once, not with every turn', async () => {
  const server = await rehearse([
    { when: { user: 'about to be replaced' }, say: 'Far too long. '.repeat(3000) },
    ...Array.from({ length: 6 }, () => ({ ...calls('x'), usage: { input: 900, output: 10 } })),
    { say: 'Done.' },
  ])
  servers.push(server)
  let n = 0
  const model = { ...modelOn('openai-chat', server), window: 1000 }
  const events = await play(agentOf(model, [named('x', () => `ran ${n++}`)]), 'go '.repeat(5000))
  assert.equal(closing(events).reason, 'done')
  assert.equal(events.filter((event) => event.type === 'compact').length, 1)
})
