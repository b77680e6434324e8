import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { computeSessionStats } from '../../src/cli/command/sessions/stats.ts'
import { readSubagentLogs } from '../../src/cli/command/sessions/session-tree.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { clearAway } from '../support/clear.ts'
import { closing, play, rehearse } from '../support/stage.ts'
import { CALLS, CHILDREN, familyAgent, familyScript, UNIT, victim } from './family.ts'

/** This file is its own victim: started with these words, it runs a session with subagents and is killed. */
const [, , role, folder = '', address = ''] = process.argv
if (role === '--victim') await victim(folder, address)
else killings()

function killings(): void {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-kills-'))
  const servers: RehearsalServer[] = []
  before(async () => {
    for (const background of [false, true]) {
      const { steps, end } = familyScript({ cut: true, background })
      servers.push(await rehearse(steps, { ...(end && { end }) }))
    }
  })
  after(async () => {
    for (const server of servers) await server.close()
    clearAway(root)
  })

  /** Kills a victim after some milliseconds; without them it lives to its end, and the time that it took is returned. */
  function kill(place: string, url: string, delay?: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--victim', place, url], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {},
      })
      let wrong = ''
      let started = 0
      child.stdout.once('data', () => {
        started = Date.now()
        if (delay !== undefined) setTimeout(() => child.kill('SIGKILL'), delay)
      })
      child.stderr.on('data', (text: Buffer) => (wrong += text.toString()))
      child.on('error', reject)
      child.on('close', () => (wrong === '' ? resolve(Date.now() - started) : reject(new Error(wrong))))
    })
  }

  function readRan(place: string): string[] {
    return existsSync(join(place, 'ran')) ? readFileSync(join(place, 'ran'), 'utf8').trim().split('\n') : []
  }

  async function check(place: string, url: string, what: string): Promise<void> {
    const store = jsonlStore(place)
    const ran = readRan(place)
    assert.equal(new Set(ran).size, ran.length, `${what}: ran twice`)
    const log = await store.open('parent')
    const named = log.entries.flatMap((entry) => (entry.kind === 'subagent' ? [entry.session] : []))
    const ids = (await store.list()).flatMap(({ id, subagent }) => (subagent?.session === 'parent' ? [id] : []))
    for (const id of named) assert.ok(ids.includes(id), `${what}: the log names ${id}, which does not exist`)
    const intents: string[] = []
    for (const id of ids) {
      const child = await store.open(id)
      const session = resumeSession(child)
      assert.deepEqual(
        child.damages.filter(({ what: kind }) => kind !== 'torn'),
        [],
        `${what}: ${id} is damaged`,
      )
      assert.deepEqual(
        session.pendingCalls.filter(({ hasStarted }) => hasStarted),
        [],
        `${what}: ${id} would run a call again`,
      )
      intents.push(
        ...session.entries.flatMap((entry) => (entry.kind === 'intent' ? [JSON.stringify(entry.input['n'])] : [])),
      )
      await child.close()
    }
    assert.equal(new Set(intents).size, intents.length, `${what}: a call began twice`)
    for (const one of ran) assert.ok(intents.includes(one), `${what}: ${one} ran without an intent in a log`)
    // The cost is the sum of what all logs have.
    const { entries } = await store.read('parent')
    const children = await readSubagentLogs('parent', store)
    const count = [entries, ...children].flat().filter(({ kind }) => kind === 'turn').length
    const stats = computeSessionStats(entries, { cost: () => 1 }, children)
    assert.equal(stats.usage.input, count * UNIT.input, `${what}: tokens do not add up`)
    assert.ok(count <= 2 + CHILDREN + CHILDREN * (CALLS + 1), `${what}: ${count} responses`)
    const events = await play(familyAgent(place, url, store, resumeSession(log)), 'go on')
    await log.close()
    assert.equal(closing(events).reason, 'done', `${what}: ${closing(events).fault?.message}`)
    const after_ = readRan(place)
    const repeated = ran.filter((one) => after_.filter((other) => other === one).length > 1)
    const isAskedAgain = !entries.some(({ kind }) => kind === 'turn')
    assert.ok(isAskedAgain || repeated.length === 0, `${what}: ran again: ${repeated.join(' ')}`)
  }

  describe('a process with subagents that is killed', () => {
    const rounds = Number(process.env['DRAGOMAN_KILLS'] ?? 8)
    test(
      `at ${rounds} random moments: all logs are valid, nothing runs twice, and the session goes on`,
      { timeout: 1_800_000 },
      async () => {
        const spans = await Promise.all(servers.map(({ url }, at) => kill(mkdtempSync(join(root, `whole${at}-`)), url)))
        const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)
        console.log(`seed ${seed}`)
        let state = seed
        const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647
        for (let round = 0; round < rounds; round++) {
          const at = round % servers.length
          const url = servers[at]?.url ?? ''
          const place = mkdtempSync(join(root, `${round}-`))
          const delay = Math.floor(random() * (spans[at] ?? 0) * 1.05)
          await kill(place, url, delay)
          if (existsSync(join(place, 'parent.jsonl'))) await check(place, url, `round ${round}, ${delay} ms`)
        }
        for (const server of servers) assert.deepEqual(server.failures, [])
      },
    )
  })
}
