import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agent, type ApprovalAnswer, jsonlStore, type OnApproval, provider, tool } from '../../src/index.ts'
import { defined } from '../../src/model/defined.ts'
import { type ScriptInput, scriptedModel, scriptedServer } from '../../src/testing.ts'
import { clearAway } from '../support/clear.ts'

/** This file is also the program: started with these words, it does one step of a session. */
const self = fileURLToPath(import.meta.url)
const [role, home = '', url = '', step, resumed] = process.argv.slice(2)
if (role === '--step') {
  await takeStep()
  process.exit(0)
}

async function takeStep(): Promise<void> {
  const deployTool = tool({
    name: 'deploy',
    description: 'Deploys.',
    parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    execute: ({ to }) => appendFileSync(join(home, 'ran'), to),
  })
  const model = provider('openai-chat', { apiKey: 'k', baseUrl: `${url}/v1` })('script')
  const one = agent({
    model,
    tools: [deployTool],
    store: jsonlStore(join(home, 'sessions')),
    ...defined({ session: resumed }),
  })
  if (step === 'ask') console.log(one.session, (await one.run('go')).finish)
  if (step === 'answer') for (const { id } of await one.pending) await one.reply(id, true)
  if (step === 'resume') console.log(one.session, (await one.resume()).finish)
  await one.close()
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-approvals-'))
after(() => clearAway(folder))

function setUp(steps: ScriptInput) {
  const model = scriptedModel(steps)
  const ran: string[] = []
  const deploy = tool({
    name: 'deploy',
    description: 'Deploys.',
    parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    execute: ({ to }) => `deployed to ${ran.push(to) && to}`,
  })
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: {} },
    effects: () => [],
    execute: () => `looked ${ran.push('look')}`,
  })
  const store = jsonlStore(mkdtempSync(join(folder, 'sessions-')))
  return { model, ran, options: { model, tools: [deploy, look], store } }
}

const deploy = (to: string) => ({ name: 'deploy', args: { to } })

describe('approvals in a program', () => {
  test('the answer decides: yes, no with a message, other arguments, nothing else counts as a yes', async () => {
    const cases: [unknown, string[], RegExp][] = [
      [true, ['prod'], /deployed to prod/],
      [false, [], /refused this call/],
      [{ approved: false, message: 'not on Fridays' }, [], /not on Fridays/],
      [{ approved: true, input: { to: 'staging' } }, ['staging'], /deployed to staging/],
      ['yes', [], /refused this call/],
      [{ approved: 'true' }, [], /refused this call/],
      [1, [], /refused this call/],
    ]
    for (const [answer, expected, sent] of cases) {
      const { model, ran, options } = setUp([{ call: [deploy('prod')] }, { say: 'Well.' }])
      const one = agent({ ...options, onApproval: () => answer as ApprovalAnswer })
      assert.equal((await one.run('go')).finish, 'done', JSON.stringify(answer))
      assert.deepEqual(ran, expected, JSON.stringify(answer))
      assert.match(model.requests[1]?.messages.at(-1)?.text ?? '', sent)
      await one.close()
    }
  })

  test('without an answer the other calls run, the run ends, and it goes on when the answer is there', async () => {
    const { model, ran, options } = setUp([
      { call: [deploy('a'), { name: 'look', args: {} }, deploy('b')] },
      { expect: { results: ['deployed to a', 'looked', 'refused this call. Comment: too late'] }, say: 'Done.' },
    ])
    const first = agent(options)
    const end = await first.run('go')
    assert.deepEqual(
      [end.finish, end.pending.map(({ tool: name }) => name)],
      ['awaiting-approval', ['deploy', 'deploy']],
    )
    const pending = await first.pending
    assert.deepEqual(
      pending.map(({ input }) => input),
      [{ to: 'a' }, { to: 'b' }],
    )
    assert.equal(model.requests.length, 1)
    const [a, b] = pending
    await first.reply(a?.id ?? '', true)
    assert.equal((await first.resume()).finish, 'awaiting-approval', 'one of two is still open')
    assert.equal((await first.pending).length, 1)
    await assert.rejects(first.reply(a?.id ?? '', true), /no open request for approval/)
    await first.reply(b?.id ?? '', { approved: false, message: 'too late' })
    assert.deepEqual([(await first.resume()).text, ran.toSorted()], ['Done.', ['a', 'look']])
    model.assertDone()
    await assert.rejects(async () => first.resume(), /nothing to resume/)
    await first.close()
  })

  test('another agent object on the same store answers and resumes; the call runs once', async () => {
    const { ran, options } = setUp([{ call: [deploy('x')] }, { say: 'Done.' }])
    const first = agent(options)
    assert.equal((await first.run('go')).finish, 'awaiting-approval')
    await first.close()
    const second = agent({ ...options, session: first.session })
    const [ask] = await second.pending
    await second.reply(ask?.id ?? '', true)
    await second.close()
    const third = agent({ ...options, session: first.session })
    assert.deepEqual([(await third.resume()).text, ran], ['Done.', ['x']])
    await third.close()
    const fourth = agent({ ...options, session: first.session })
    await assert.rejects(async () => fourth.resume(), /nothing to resume/)
    await fourth.close()
    assert.deepEqual(ran, ['x'])
  })

  test('real processes: one asks, one answers, one resumes; the call runs once', async (context) => {
    const server = await scriptedServer([{ call: [deploy('y')] }, { say: 'Done.' }])
    context.after(() => server.close())
    const place = mkdtempSync(join(folder, 'processes-'))
    const start = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, [self, '--step', place, server.url, ...args])).stdout
    const [session = '', finish] = (await start('ask')).trim().split(' ')
    assert.equal(finish, 'awaiting-approval')
    await start('answer', session)
    assert.equal((await start('resume', session)).trim(), `${session} done`)
    assert.equal(readFileSync(join(place, 'ran'), 'utf8'), 'y')
    server.assertDone()
  })

  test('a call that must come after the waiting one waits, too', async () => {
    const { ran, options } = setUp([{ call: [deploy('first'), { name: 'write', args: {} }] }, { say: 'Done.' }])
    const write = tool({
      name: 'write',
      description: 'Writes.',
      parameters: { type: 'object', properties: {} },
      effects: () => [{ kind: 'read', path: '/tmp/x' }],
      execute: () => `wrote ${ran.push('write')}`,
    })
    const one = agent({ ...options, tools: [...options.tools, write], folders: ['/tmp'] })
    assert.equal((await one.run('go')).finish, 'awaiting-approval')
    assert.deepEqual(ran, [], 'a call without declared effects may change what the next one reads')
    for (const { id } of await one.pending) await one.reply(id, true)
    assert.deepEqual([(await one.resume()).finish, ran], ['done', ['first', 'write']])
    await one.close()
  })

  test('a new prompt instead of an answer: the call did not run, and the model is told', async () => {
    const { model, ran, options } = setUp([{ call: [deploy('x')] }, { say: 'Fine.' }])
    const onApproval: OnApproval = () => undefined
    const one = agent({ ...options, onApproval })
    await one.run('go')
    assert.equal((await one.run('forget it')).text, 'Fine.')
    assert.deepEqual(ran, [])
    assert.match(JSON.stringify(model.requests[1]?.messages), /before deploy ran. It had no effect/)
    await one.close()
  })
})
