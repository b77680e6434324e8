import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { CreateElicitationRequest, McpServer } from '@agentclientprotocol/sdk'
import { skipWithoutBox } from '../host/box.ts'
import { stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { choose, type Editor, openEditor } from './support/editor.ts'

const LIMIT = { timeout: 300_000 }

const OPTIONS = [{ label: 'Tabs' }, { label: 'Spaces', description: 'two of them' }]
const ask = (options?: typeof OPTIONS) => ({
  call: [{ name: 'ask_user', args: { question: 'Tabs or spaces?', ...(options && { options }) } }],
})

test('a question of the model has its options as the options of a permission', LIMIT, async () => {
  for (const [optionId, result] of [
    ['answer-2', 'Spaces'],
    ['no', { not: 'Spaces' }],
  ] as const) {
    const place = await stage([ask(OPTIONS), { expect: { results: result }, say: 'I see.' }])
    const editor = await openEditor(place, { permit: () => choose(optionId) })
    const { sessionId } = await editor.newSession()
    assert.equal(await editor.prompt(sessionId, 'Format it.'), 'end_turn')
    assert.deepEqual(
      editor.questions[0]?.options.map(({ kind, name }) => `${kind} ${name}`),
      ['allow_once Tabs', 'allow_once Spaces: two of them', 'reject_once No answer'],
    )
    assert.match(JSON.stringify(editor.questions[0]?.toolCall.content), /Tabs or spaces\?/)
    assert.deepEqual(place.server.failures, [])
    await editor.close()
  }
})

test('a client with forms gets a question of the model as a form, also one without options', LIMIT, async () => {
  const place = await stage([
    ask(OPTIONS),
    { expect: { results: 'Spaces' }, ...ask(OPTIONS) },
    { expect: { results: 'three' }, ...ask() },
    { expect: { results: 'none at all' }, ...ask() },
    { say: 'I see.' },
  ])
  const asked: CreateElicitationRequest[] = []
  const contents = [{ choice: 'Spaces' }, { choice: 'Tabs', answer: 'three' }, { answer: 'none at all' }]
  const editor = await openEditor(place, {
    capabilities: { elicitation: { form: {} } },
    elicit: (request) => {
      const content = contents[asked.push(request) - 1]
      return content ? { action: 'accept', content } : { action: 'decline' }
    },
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Format it.'), 'end_turn')
  assert.deepEqual(place.server.failures, [])
  assert.match(editor.text(), /I see\./)
  assert.equal(asked.length, 4)
  assert.equal(asked[0]?.message, 'Tabs or spaces?')
  assert.deepEqual(editor.questions, [])
  await editor.close()
})

const SERVER: McpServer = {
  name: 'asker',
  command: process.execPath,
  args: [join(root, 'test/acp/support/asking-server.mjs')],
  env: [],
}

async function signIn(editor: Editor): Promise<void> {
  const { sessionId } = await editor.newSession({ mcpServers: [SERVER] })
  while (!/asker: ready/.test(editor.text())) {
    assert.doesNotMatch(editor.text(), /asker: failed/)
    assert.equal(await editor.prompt(sessionId, '/mcp'), 'end_turn')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.equal(await editor.prompt(sessionId, 'Sign in.'), 'end_turn')
}

test('a URL of an MCP server is opened by the client, and its completion is told', LIMIT, async () => {
  for (const action of ['accept', 'decline', 'cancel'] as const) {
    const place = await stage([
      { call: [{ name: 'sign_in', args: {} }] },
      { expect: { results: `sign-in: ${action}` }, say: 'Known.' },
    ])
    const asked: CreateElicitationRequest[] = []
    const editor = await openEditor(place, {
      // No forms: that must not keep the URL away.
      capabilities: { elicitation: { url: {} } },
      permit: () => choose('once'),
      elicit: (request) => {
        asked.push(request)
        return { action }
      },
    })
    await signIn(editor)
    assert.match(editor.text(), /Known\./)
    assert.deepEqual(
      asked.map(({ mode, message, ...rest }) => [mode, message, 'url' in rest && rest.url]),
      [['url', 'The MCP server asker asks: Please sign in.', 'http://localhost:8123/consent']],
    )
    const [request] = asked
    const id = await editor.until(() => editor.completedUrls[0])
    assert.equal(request && 'elicitationId' in request && request.elicitationId, id)
    await editor.close()
  }
})

test('a client that opens no URLs is asked for permission instead', LIMIT, async () => {
  const place = await stage([
    { call: [{ name: 'sign_in', args: {} }] },
    { expect: { results: 'sign-in: decline' }, say: 'Known.' },
  ])
  const editor = await openEditor(place, {
    capabilities: { elicitation: { form: {} } },
    // The call itself is allowed, the URL is not.
    permit: ({ toolCall }) => choose(/open a URL/.test(toolCall.title ?? '') ? 'no' : 'once'),
  })
  await signIn(editor)
  assert.match(editor.text(), /Known\./)
  assert.match(JSON.stringify(editor.questions.at(-1)), /http:\/\/localhost:8123\/consent/)
  await editor.close()
})

describe('a command that the sandbox keeps from the network', { skip: await skipWithoutBox() }, () => {
  async function openHiddenServer() {
    let count = 0
    const server = createServer((_request, response) => response.end(`answer ${++count}\n`))
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const { port } = server.address() as AddressInfo
    const code = `fetch('http://127.0.0.1:${port}/').then((r) => r.text()).then((t) => console.log(t))`
    return { command: `node -e "${code}"`, count: () => count, close: () => server.close() }
  }
  const isSandboxQuestion = (one: { options: readonly { optionId: string }[] }) =>
    one.options.some(({ optionId }) => optionId === 'outside')

  test('is asked about in the editor, with its choices, and runs again as the user says', LIMIT, async () => {
    for (const [optionId, count] of [
      ['network', 1],
      ['outside', 1],
      ['no', 0],
    ] as const) {
      const hidden = await openHiddenServer()
      const place = await stage([
        { call: [{ name: 'run_shell_command', args: { command: hidden.command } }] },
        { expect: { results: count === 1 ? 'answer 1' : { not: 'answer 1' } }, say: 'Done.' },
      ])
      const editor = await openEditor(place, {
        capabilities: { terminal: true },
        permit: (request) => choose(isSandboxQuestion(request) ? optionId : 'once'),
        terminal: () => assert.fail('a command with a sandbox runs in no terminal of the editor'),
      })
      const { sessionId } = await editor.newSession()
      assert.equal(await editor.prompt(sessionId, 'Fetch it.'), 'end_turn')
      const question = editor.questions.find(isSandboxQuestion)
      const ids = question?.options.map((option) => option.optionId)
      assert.deepEqual(ids?.slice(0, 2), ['network', 'outside'])
      assert.equal(ids?.at(-1), 'no')
      assert.equal(question?.toolCall.toolCallId, editor.updatesOf('tool_call')[0]?.toolCallId)
      assert.deepEqual(place.server.failures, [])
      assert.equal(hidden.count(), count)
      await editor.close()
      hidden.close()
    }
  })

  test('is killed while the question is open: the command does not run again', LIMIT, async () => {
    const hidden = await openHiddenServer()
    const place = await stage([
      { call: [{ name: 'run_shell_command', args: { command: hidden.command } }] },
      { say: 'Done.' },
    ])
    const editor = await openEditor(place, {
      permit: (request) => (isSandboxQuestion(request) ? new Promise(() => undefined) : choose('once')),
    })
    const { sessionId } = await editor.newSession()
    void editor.prompt(sessionId, 'Fetch it.').catch(() => undefined)
    await editor.until(() => editor.questions.find(isSandboxQuestion))
    await editor.kill()
    const next = await openEditor(place, { permit: () => choose('once') })
    await next.agent.request('session/load', { sessionId, cwd: place.work, mcpServers: [] })
    assert.equal(next.updatesOf('tool_call_update').at(-1)?.status, 'failed')
    assert.equal(await next.prompt(sessionId, 'Go on.'), 'end_turn')
    assert.deepEqual(next.questions, [])
    assert.equal(hidden.count(), 0)
    await next.close()
    hidden.close()
  })
})
