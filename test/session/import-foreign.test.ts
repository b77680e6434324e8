import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ModelRequest } from '../../src/model/request.ts'
import { detectAgent } from '../../src/session/import/detect-agent.ts'
import type { ForeignAgent, ForeignSession, ForeignStep } from '../../src/session/import/foreign-session.ts'
import { readOpencodeSession } from '../../src/session/import/opencode.ts'
import { listOpencodeSessions, readOpencodeDatabase } from '../../src/session/import/opencode-export.ts'
import { readForeignSession } from '../../src/session/import/read-foreign-session.ts'
import { openSqliteDatabase } from '../../src/session/import/sqlite-reader.ts'
import { type SessionImport, writeForeignSession } from '../../src/session/import/write-session.ts'
import { resumeSession } from '../../src/session/session.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import {
  ANSWER,
  QUESTION,
  WORD,
  writeForeignLog,
  writeOpencodeExport,
  writeOpencodeRows,
} from '../support/foreign-sessions.ts'
import { writeSqlite, writeWriteAheadLog } from '../support/sqlite-writer.ts'
import { validateTranscript } from '../support/transcript-validator.ts'

const AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'pi'] as const
let count = 0

/** Imports a session, and checks that all wires can go on with it. Gives the requests, and what was repaired. */
async function importSession(session: ForeignSession): Promise<{ report: SessionImport; requests: string[] }> {
  const store = memoryStore()
  const id = `import-${++count}`
  const log = await store.create({ id, folder: '/' })
  const report = writeForeignSession(log, session)
  await log.close()
  const resumed = resumeSession(await store.open(id))
  assert.deepEqual(resumed.pendingCalls, [])
  const requests: string[] = []
  for (const name of wireIds) {
    const wire = await loadWire(name)
    const turns = [...resumed.turns, { role: 'user', parts: [{ kind: 'text', text: 'go on' }] } as const]
    const request: ModelRequest = { model: 'm', tools: [], turns, params: {}, project: 'p' }
    const { body } = wire.encodeRequest(request, wire.profile)
    assert.deepEqual(validateTranscript(name, body, wire.profile), [], `${name}: ${JSON.stringify(body)}`)
    requests.push(JSON.stringify(body))
  }
  return { report, requests }
}

function writeLog(agent: ForeignAgent): string {
  return agent === 'opencode' ? writeOpencodeExport() : writeForeignLog(agent)
}

function findings({ report }: { report: SessionImport }): Record<string, number> {
  return Object.fromEntries(report.findings.map(({ kind, count: number }) => [kind, number]))
}

const importText = (agent: ForeignAgent, text: string) => importSession(readForeignSession(agent, text))

describe('sessions of other agents', () => {
  for (const agent of AGENTS) {
    test(`${agent}: its messages, calls and results go on, on every wire`, async () => {
      const text = writeLog(agent)
      assert.equal(detectAgent(text), agent)
      const imported = await importText(agent, text)
      assert.equal(imported.report.prompts, 1)
      assert.equal(imported.report.answers, 2)
      const { 'agent-message': _own, ...repairs } = findings(imported)
      assert.deepEqual(repairs, {}, 'a whole log needs no repair')
      for (const request of imported.requests) {
        for (const part of [QUESTION, WORD, ANSWER, 'go on']) assert.ok(request.includes(part), `${part}: ${request}`)
        assert.doesNotMatch(request, /interrupted|session_context|environment_context|somebody|c2lnbmVk|Z0FBQUFB/)
      }
    })

    test(`${agent}: a log that is torn at any place is imported as far as it goes`, async () => {
      const text = writeLog(agent)
      const unanswered = new Set<number>()
      const step = 17
      for (let end = text.indexOf(QUESTION) + 200; end < text.length; end += step) {
        const session = readForeignSession(agent, text.slice(0, end))
        if (session.steps.length === 0) continue
        unanswered.add(findings(await importSession(session))['unanswered-call'] ?? 0)
      }
      if (agent !== 'opencode' && agent !== 'gemini')
        assert.ok(unanswered.has(1), 'some cut was between a call and its result')
    })
  }

  test('an unanswered call, repeated ids and results without calls are repaired and counted', async () => {
    const line = (uuid: string, parentUuid: string | null, type: string, message: object) =>
      `${JSON.stringify({ uuid, parentUuid, type, isSidechain: false, sessionId: 's', message })}\n`
    const use = (id: string, command: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command } })
    const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content })
    const text =
      line('u1', null, 'user', { role: 'user', content: 'first' }) +
      line('a1', 'u1', 'assistant', { id: 'm1', role: 'assistant', content: [use('t1', 'one')] }) +
      line('r1', 'a1', 'user', { role: 'user', content: [result('t1', 'done one'), result('t1', 'done again')] }) +
      line('r0', 'r1', 'user', { role: 'user', content: [result('lost', 'nobody asked')] }) +
      line('a2', 'r0', 'assistant', { id: 'm2', role: 'assistant', content: [use('t1', 'two'), use('t2', 'three')] }) +
      line('r2', 'a2', 'user', { role: 'user', content: [result('t1', 'done two')] }) +
      '{"uuid":"u2","parentUuid":"r2","type":"us' +
      line('u3', 'u2', 'user', { role: 'user', content: 'second' })
    const imported = await importText('claude', text)
    assert.deepEqual(findings(imported), {
      'unreadable-line': 1,
      'missing-link': 1,
      'repeated-result': 1,
      'result-without-call': 1,
      'repeated-call-id': 1,
      'unanswered-call': 1,
    })
    for (const request of imported.requests) {
      for (const part of ['done one', 'done two', 'nobody asked', 'first', 'second'])
        assert.ok(request.includes(part), part)
      assert.match(request, /ended before a result of Bash was stored/)
    }
  })

  test('summaries replace the history before them for the model, and branches that were left are left out', async () => {
    const pi = writeForeignLog('pi').trimEnd()
    const more = [
      { type: 'message', id: 'x1', parentId: 'e5', message: { role: 'user', content: 'left behind' } },
      { type: 'message', id: 'x2', parentId: 'e5', message: { role: 'user', content: 'kept' } },
      { type: 'compaction', id: 'x3', parentId: 'x2', summary: 'We spoke of birds.', firstKeptEntryId: 'x2' },
      { type: 'message', id: 'x4', parentId: 'x3', message: { role: 'user', content: 'after' } },
    ]
    const imported = await importText('pi', `${pi}\n${more.map((one) => JSON.stringify(one)).join('\n')}\n`)
    assert.equal(findings(imported)['other-branch'], 1)
    for (const request of imported.requests) {
      for (const part of ['We spoke of birds.', 'kept', 'after']) assert.ok(request.includes(part), part)
      assert.ok(!request.includes(QUESTION) && !request.includes('left behind'))
    }
    const codex = `${writeForeignLog('codex')}${JSON.stringify({ type: 'compacted', payload: { message: 'Birds again.' } })}\n`
    for (const request of (await importText('codex', codex)).requests) {
      assert.ok(request.includes('Birds again.') && !request.includes(QUESTION))
    }
  })

  test('the database of opencode: several pages, long records, and a log that was not merged', async () => {
    const output = `${WORD} ${'long '.repeat(900)}`
    const database = writeSqlite(writeOpencodeRows('/home/ann/app', output))
    const log = writeWriteAheadLog(database)
    const empty = Buffer.alloc(1024)
    database.copy(empty, 0, 0, 100)
    for (const [file, wal] of [
      [database, undefined],
      [empty, log],
    ] as const) {
      const opened = openSqliteDatabase(file, wal)
      const [info] = listOpencodeSessions(opened)
      assert.equal(info?.['directory'], '/home/ann/app')
      const imported = await importSession(readOpencodeSession(readOpencodeDatabase(opened, info)))
      assert.deepEqual(findings(imported), {})
      for (const request of imported.requests) assert.ok(request.includes(output.trim()) && request.includes(ANSWER))
    }
    // A torn log counts as far as its transactions are complete.
    assert.deepEqual(listOpencodeSessions(openSqliteDatabase(empty, log.subarray(0, -1))), [])
    for (let cut = 0; cut < database.length; cut += 97)
      assert.doesNotThrow(() => listOpencodeSessions(openSqliteDatabase(database.subarray(0, cut))))
  })

  test('random damage never makes a session that a wire refuses', async () => {
    const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)
    const random = createRandom(seed)
    for (let round = 0; round < 120; round++) {
      const agent = AGENTS[round % AGENTS.length] ?? 'claude'
      const damaged = damage(writeLog(agent), random)
      const session = readForeignSession(agent, damaged)
      if (session.steps.some((step: ForeignStep) => step.role === 'user'))
        await importSession(session).catch((error: unknown) =>
          assert.fail(`seed ${seed}, round ${round}: ${String(error)}`),
        )
    }
  })
})

/** Removes, repeats or swaps whole lines, or cuts one. */
function damage(text: string, random: () => number): string {
  const all = text.split('\n')
  for (let change = 0; change < 3; change++) {
    const at = Math.floor(random() * all.length)
    const other = Math.floor(random() * all.length)
    const kind = Math.floor(random() * 4)
    if (kind === 0) all.splice(at, 1)
    else if (kind === 1) all.splice(other, 0, all[at] ?? '')
    else if (kind === 2) [all[at], all[other]] = [all[other] ?? '', all[at] ?? '']
    else all[at] = (all[at] ?? '').slice(0, Math.floor(random() * (all[at]?.length ?? 0)))
  }
  return all.join('\n')
}

function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
