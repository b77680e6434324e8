import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { type Rehearsal } from '../../src/rehearsal/server.ts'
import { takeUp } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl.ts'
import { closing, play, rehearse } from '../support/stage.ts'
import { crashAgent, victim } from './victim.ts'
import { clearAway } from '../support/clear.ts'

/** This file is its own victim: started with these words, it runs a session and is killed. */
const [, , role, folder = '', url = '', at = '0'] = process.argv
if (role === '--victim') await victim({ folder, url, at: Number(at) })
else crashes()

function crashes(): void {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-crash-'))
  let server: Rehearsal
  let folders = 0

  before(async () => {
    const counting = [1, 2, 3].map((n) => ({
      say: `Turn ${n}.`,
      call: [
        { name: 'count', args: { n } },
        { name: 'count', args: { n: n + 10 } },
      ],
    }))
    server = await rehearse([...counting, { say: 'Done.' }], { end: { say: 'Done again.' } })
  })
  after(async () => {
    await server.close()
    clearAway(root)
  })

  /** Lets a victim live until it is killed, by itself or after some milliseconds. */
  function kill(place: string, effect: number, delay?: number): Promise<{ kept: number[]; effects: number }> {
    return new Promise((resolve, reject) => {
      const self = fileURLToPath(import.meta.url)
      const child = spawn(process.execPath, [self, '--victim', place, server.url, String(effect)], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {},
      })
      let said = ''
      let wrong = ''
      child.stdout.on('data', (text: Buffer) => {
        if (delay !== undefined && said === '') setTimeout(() => child.kill('SIGKILL'), delay)
        said += text.toString()
      })
      child.stderr.on('data', (text: Buffer) => (wrong += text.toString()))
      child.on('error', reject)
      child.on('close', () => {
        if (wrong !== '') return reject(new Error(wrong))
        const kept = [...said.matchAll(/^kept (\d+)$/gm)].map((match) => Number(match[1]))
        resolve({ kept, effects: Number(/^effects (\d+)$/m.exec(said)?.[1] ?? 0) })
      })
    })
  }

  /** Takes up what a killed process left behind, goes on, and checks that nothing is lost and nothing ran twice. */
  async function checkAfter(place: string, kept: readonly number[], what: string): Promise<void> {
    if (!existsSync(join(place, 'session.jsonl')))
      return assert.deepEqual(kept, [], `${what}: no log, but entries were acknowledged`)
    const store = jsonlStore(place)
    const log = store.open('session')
    const seqs = new Set(log.entries.map((entry) => entry.seq))
    for (const seq of kept) assert.ok(seqs.has(seq), `${what}: entry ${seq} was acknowledged and is lost`)
    const events = await play(
      crashAgent(place, server.url, takeUp(log), () => undefined),
      'go on',
    )
    log.close()
    assert.equal(closing(events).reason, 'done', `${what}: ${closing(events).fault?.message}`)
    const ran = existsSync(join(place, 'ran')) ? readFileSync(join(place, 'ran'), 'utf8').trim().split('\n') : []
    assert.equal(new Set(ran).size, ran.length, `${what}: ran twice: ${ran.join(' ')}`)
    assert.deepEqual(server.failures, [], `${what}: a request was refused`)
  }

  const place = (): string => mkdtempSync(join(root, `${folders++}-`))

  /** So many at a time. */
  async function all(jobs: readonly (() => Promise<void>)[], width = 3): Promise<void> {
    const waiting = [...jobs]
    await Promise.all(
      Array.from({ length: width }, async () => {
        for (let job = waiting.shift(); job; job = waiting.shift()) await job()
      }),
    )
  }

  describe('a process that is killed', () => {
    test(
      'before and after every effect of a session: nothing acknowledged is lost, nothing runs twice, and it goes on',
      { timeout: 600_000 },
      async () => {
        const { effects } = await kill(place(), 0)
        assert.ok(effects > 50, `${effects} effects`)
        const jobs = Array.from({ length: effects }, (_, index) => async () => {
          const here = place()
          const { kept } = await kill(here, index + 1)
          await checkAfter(here, kept, `effect ${index + 1}`)
        })
        await all(jobs)
        console.log(`killed at each of ${effects} effects`)
      },
    )

    test(
      'at a random moment, again and again (DRAGOMAN_CRASHES=1000 for a thousand times)',
      { timeout: 1_800_000 },
      async () => {
        const seed = Number(process.env['DRAGOMAN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
        const runs = Number(process.env['DRAGOMAN_CRASHES'] ?? 150)
        console.log(`seed ${seed}, ${runs} runs`)
        let state = seed
        const random = (): number => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return state / 2 ** 32
        }
        const jobs = Array.from({ length: runs }, (_, index) => async () => {
          const here = place()
          const { kept } = await kill(here, 0, random() * 60)
          await checkAfter(here, kept, `run ${index} of seed ${seed}`)
          clearAway(here)
        })
        await all(jobs)
      },
    )
  })
}
