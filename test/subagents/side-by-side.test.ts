import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ApprovalReply, ApprovalRequest } from '../../src/agent/calls/call-state.ts'
import { resumeSession } from '../../src/session/session.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import { clearAway } from '../support/clear.ts'
import { closing, play, rehearse } from '../support/stage.ts'
import { CALLS, CHILDREN, familyAgent, familyScript, UNIT } from './family.ts'

const root = mkdtempSync(join(tmpdir(), 'dragoman-family-'))
after(() => clearAway(root))

const ASKING = {
  decide: ({ tool }: { tool: string }) =>
    ({ verdict: tool === 'count' ? 'ask' : 'allow', rule: 'test', why: 'It counts.' }) as const,
  remember: () => '',
}

describe('eight subagents side by side', () => {
  test('each asks under its name while the others wait too; a cut stream is asked for again; cost adds up', async () => {
    const { steps, end } = familyScript({ cut: true })
    const server = await rehearse(steps, { ...(end && { end }) })
    const folder = mkdtempSync(join(root, 'run-'))
    const store = memoryStore()
    const log = await store.create({ id: 'parent', folder: '/' })
    let waiting: { ask: ApprovalRequest; reply: (reply: ApprovalReply) => void }[] = []
    let most = 0
    const askers = new Map<string, number>()
    const agent = familyAgent(folder, server.url, store, resumeSession(log), {
      policy: ASKING,
      requestApproval: (ask) =>
        new Promise((resolve) => {
          askers.set(ask.asker ?? '', (askers.get(ask.asker ?? '') ?? 0) + 1)
          waiting.push({ ask, reply: resolve })
          most = Math.max(most, waiting.length)
          // Nobody is answered before all of a round have asked: they can only do that side by side.
          if (waiting.length < CHILDREN) return
          const round = waiting
          waiting = []
          for (const one of round) one.reply({ ask: one.ask.id, outcome: 'proceed-once' })
        }),
    })
    const events = await play(agent, 'go')
    assert.equal(closing(events).reason, 'done', closing(events).fault?.message)
    assert.equal(most, CHILDREN)
    assert.deepEqual([...askers], [['general', CHILDREN * CALLS]])
    const ran = readFileSync(join(folder, 'ran'), 'utf8').trim().split('\n')
    assert.equal(ran.length, CHILDREN * CALLS)
    assert.equal(new Set(ran).size, ran.length)
    // Two responses of the parent, and three of each child; the cut one has no usage.
    const responses = 2 + CHILDREN * (CALLS + 1)
    assert.equal(closing(events).usage.input, responses * UNIT.input)
    assert.equal(closing(events).usage.output, responses * UNIT.output)
    assert.ok(server.requests.length > responses, 'the stream was cut')
    const children = (await store.list()).filter(({ subagent }) => subagent?.session === 'parent')
    assert.equal(children.length, CHILDREN)
    const named = agent.session.entries.flatMap((entry) => (entry.kind === 'subagent' ? [entry.session] : []))
    assert.deepEqual(named.toSorted(), children.map(({ id }) => id).toSorted())
    assert.deepEqual(server.failures, [])
    await server.close()
  })

  test('what the person stops, all stop: no log is left open, and no call runs afterwards', async () => {
    const { steps, end } = familyScript()
    const server = await rehearse(steps, { ...(end && { end }) })
    const folder = mkdtempSync(join(root, 'stop-'))
    const store = memoryStore()
    const stop = new AbortController()
    let asked = 0
    const agent = familyAgent(
      folder,
      server.url,
      store,
      resumeSession(await store.create({ id: 'parent', folder: '/' })),
      {
        policy: ASKING,
        requestApproval: (ask, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve({ ask: ask.id, outcome: 'cancel' }), { once: true })
            if (++asked === CHILDREN) stop.abort()
          }),
      },
    )
    const events = await play(agent, 'go', stop.signal)
    assert.equal(closing(events).reason, 'cancelled')
    for (const { id, subagent } of await store.list()) {
      if (!subagent) continue
      const { entries } = await store.read(id)
      assert.equal(entries.at(-1)?.kind, 'close', id)
      await (await store.open(id)).close()
    }
    assert.throws(() => readFileSync(join(folder, 'ran')))
    await server.close()
  })

  test('in the background: eight reports, all of them before the end', async () => {
    const { steps, end } = familyScript({ background: true })
    const server = await rehearse(steps, { ...(end && { end }) })
    const folder = mkdtempSync(join(root, 'background-'))
    const store = memoryStore()
    const agent = familyAgent(
      folder,
      server.url,
      store,
      resumeSession(await store.create({ id: 'parent', folder: '/' })),
    )
    const events = await play(agent, 'go')
    assert.equal(closing(events).reason, 'done')
    const reports = agent.session.entries.flatMap((entry) => (entry.kind === 'note' ? (entry.subagent ?? []) : []))
    assert.equal(new Set(reports).size, CHILDREN)
    assert.equal(reports.length, CHILDREN)
    const { turns, usage } = closing(events)
    assert.equal(usage.output, turns + CHILDREN * (CALLS + 1))
    await server.close()
  })
})
