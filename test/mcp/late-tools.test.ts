import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { createMcpToolbox } from '../../src/tool/mcp/tools/mcp-toolbox.ts'
import type { Toolbox } from '../../src/tool/toolbox.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { root } from '../support/paths.ts'
import { agentOf, closing, memorySession, modelOn, play, rehearse } from '../support/stage.ts'
import { allReady, makeWorld } from './support/world.ts'

const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')
const world = makeWorld()

/** The tools that a body declares beside its history. */
function declared(wire: WireId, body: unknown): string {
  const inner = (body as JsonObject)['request'] ?? body
  return JSON.stringify((inner as JsonObject)['tools'])
}

const steps = [
  { call: [{ name: 'search_tools', args: { query: 'many_1999 or many_1500' } }] },
  { call: [{ name: 'many_1500', args: {} }] },
  { say: 'Done.' },
  { call: [{ name: 'many_1500', args: {} }] },
  { say: 'Done again.' },
]

for (const wire of wireIds)
  test(`a tool that is found is declared from there on, and once (${wire})`, async () => {
    const servers = world.open({ many: { command: process.execPath, args: [FIXTURE, 'many'] } })
    await allReady(servers)
    const model = await rehearse(steps)
    try {
      const session = memorySession('late')
      const agent = () => agentOf(modelOn(wire, model), [], { toolbox: createMcpToolbox([], servers), session })
      assert.equal(closing(await play(agent(), 'go')).reason, 'done')
      // Another process goes on with the session: what was found stays declared.
      assert.equal(closing(await play(agent(), 'go on')).reason, 'done')
      assert.deepEqual(model.failures, [])
      const bodies = model.requests.map(({ bytes }) => JSON.parse(bytes.toString()) as JsonObject)
      const [first, ...later] = bodies
      assert.ok(!JSON.stringify(first).includes('many_1500"'))
      const codec = await loadWire(wire)
      const isNative = codec.profile.lateTools === 'native'
      for (const body of later) {
        assert.equal(declared(wire, body) === declared(wire, first), isNative, 'the prefix stays only where it can')
        const known = codec.readRequest(body).request
        const all = [...known.tools, ...known.turns.flatMap((turn) => (turn.role === 'note' ? (turn.tools ?? []) : []))]
        assert.equal(all.filter(({ name }) => name === 'many_1500').length, 1)
      }
      assert.equal(new Set(later.map((body) => declared(wire, body))).size, 1, 'it changes once')
    } finally {
      await model.close()
      await servers.close()
    }
  })

test('tools that come and go become notes, and after a summary they are declared with the others', async () => {
  const model = await rehearse([
    { call: [{ name: 'grow', args: {} }] },
    { say: 'Done.' },
    { call: [{ name: 'shrink', args: {} }] },
    { say: 'Done.' },
    { call: [{ name: 'grow', args: {} }] },
    { say: 'Done.' },
    { say: 'Done.' },
  ])
  const tool = (name: string, run: () => void) => ({
    spec: { name, description: name, schema: { type: 'object' as const, properties: {} } },
    kind: 'other' as const,
    origin: 'custom' as const,
    effects: () => [],
    run: () => Promise.resolve((run(), { content: 'ok' })),
  })
  const { createToolbox } = await import('../../src/tool/toolbox.ts')
  const [grow, shrink, extra] = [
    tool('grow', () => void (tools = [...tools, extra])),
    tool('shrink', () => void (tools = tools.filter((one) => one !== extra))),
    tool('extra', () => undefined),
  ]
  let tools = [grow, shrink]
  const cache = new Map<unknown, Toolbox>()
  const current = (): Toolbox => {
    const made = cache.get(tools) ?? createToolbox(tools)
    cache.set(tools, made)
    return made
  }
  const toolbox: Toolbox = {
    get specs() {
      return current().specs
    },
    find: (name) => current().find(name),
    validateInput: (...all) => current().validateInput(...all),
    refresh: () => ({ notices: [] }),
  }
  try {
    const session = memorySession('changes')
    const agent = agentOf(modelOn('openai-responses', model), [], { toolbox, session })
    await play(agent, 'go')
    await play(agent, 'go')
    const notes = session.turns.flatMap((turn) => (turn.role === 'note' ? [turn] : []))
    assert.deepEqual(
      notes.map((note) => [note.tools?.map(({ name }) => name), note.removedTools]),
      [
        [['extra'], undefined],
        [undefined, ['extra']],
      ],
    )
    const texts = model.requests.map(({ bytes }) => bytes.toString())
    for (const [at, text] of texts.entries())
      if (at > 0) assert.ok(text.startsWith(texts[at - 1]!.slice(0, -2)), 'each request extends the one before')
    await play(agent, 'go')
    session.append({ kind: 'compact', summary: 'All is well.', keep: session.entries.length + 1, before: 2, after: 1 })
    await play(agent, 'go')
    const body = model.requests.at(-1)?.bytes.toString() ?? ''
    const known = JSON.parse(body) as { tools: { name: string }[] }
    assert.deepEqual(
      known.tools.map(({ name }) => name),
      ['grow', 'shrink', 'extra'],
    )
    assert.doesNotMatch(body, /additional_tools/)
  } finally {
    await model.close()
  }
})
