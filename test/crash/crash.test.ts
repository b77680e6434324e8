import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { after, before, describe, test } from 'node:test'
import { type RehearsalServer } from '../../src/rehearsal/server.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { closing, play, rehearse } from '../support/stage.ts'
import { crashAgent, victim } from './victim.ts'
import { clearAway } from '../support/clear.ts'

/** This file is its own victim: started with these words, it runs a session and is killed. */
const [, , role, folder = '', address = '', at = '0', tokens = '0'] = process.argv
if (role === '--victim') await victim({ folder, url: address, at: Number(at), window: Number(tokens) })
else crashes()

/** In tokens. */
const WINDOW = 400

function crashes(): void {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-crash-'))
  let server: RehearsalServer
  /** Of this one the vendor counts so many tokens that the history is summarised on the way. */
  let summarising: RehearsalServer
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
    const summary = { when: { user: 'about to be replaced' }, say: 'The person wants to count.' }
    const long = counting.map((step) => ({ ...step, usage: { input: WINDOW, output: 10 } }))
    summarising = await rehearse([summary, ...long, { say: 'Done.' }], { end: { say: 'Done again.' } })
  })
  after(async () => {
    await server.close()
    await summarising.close()
    clearAway(root)
  })

  /** Lets a victim live until it is killed, by itself or after some milliseconds. */
  function kill(
    place: string,
    effect: number,
    { delay, window: span = 0 }: { delay?: number; window?: number } = {},
  ): Promise<{ kept: number[]; effects: number }> {
    return new Promise((resolve, reject) => {
      const self = fileURLToPath(import.meta.url)
      const played = span > 0 ? summarising : server
      const child = spawn(process.execPath, [self, '--victim', place, played.url, String(effect), String(span)], {
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
  async function checkAfter(place: string, kept: readonly number[], what: string, isSummarised = false): Promise<void> {
    if (!existsSync(join(place, 'session.jsonl')))
      return assert.deepEqual(kept, [], `${what}: no log, but entries were acknowledged`)
    const store = jsonlStore(place)
    const log = await store.open('session')
    const seqs = new Set(log.entries.map((entry) => entry.seq))
    for (const seq of kept) assert.ok(seqs.has(seq), `${what}: entry ${seq} was acknowledged and is lost`)
    const events = await play(
      crashAgent(place, server.url, resumeSession(log), () => undefined),
      'go on',
    )
    await log.close()
    assert.equal(closing(events).reason, 'done', `${what}: ${closing(events).fault?.message}`)
    const ran = existsSync(join(place, 'ran')) ? readFileSync(join(place, 'ran'), 'utf8').trim().split('\n') : []
    // A model that reads a summary may ask for the same again; but each call that it makes begins once.
    const begun = (await store.read('session')).entries.flatMap((entry) =>
      entry.kind === 'intent' ? [entry.call] : [],
    )
    assert.equal(new Set(begun).size, begun.length, `${what}: a call began twice`)
    assert.ok(ran.length <= begun.length, `${what}: ${ran.length} ran, ${begun.length} had begun`)
    if (!isSummarised) assert.equal(new Set(ran).size, ran.length, `${what}: ran twice: ${ran.join(' ')}`)
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

    test('before and after every effect of a session that is summarised', { timeout: 600_000 }, async () => {
      const whole = place()
      const { effects } = await kill(whole, 0, { window: WINDOW })
      assert.match(readFileSync(join(whole, 'session.jsonl'), 'utf8'), /"kind":"compact"/)
      // There are many; each third is enough where nobody asks for all.
      const stride = process.env['DRAGOMAN_CRASHES'] === undefined ? 3 : 1
      const jobs = Array.from({ length: Math.floor(effects / stride) }, (_, index) => async () => {
        const here = place()
        const effect = 1 + index * stride
        const { kept } = await kill(here, effect, { window: WINDOW })
        await checkAfter(here, kept, `effect ${effect} with a summary`, true)
      })
      await all(jobs)
      console.log(`killed at ${jobs.length} of ${effects} effects, with a summary`)
    })

    test(
      'at a random moment, again and again (DRAGOMAN_CRASHES=1000 for a thousand times)',
      { timeout: 1_800_000 },
      async () => {
        const seed = Number(process.env['DRAGOMAN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
        const runs = Number(process.env['DRAGOMAN_CRASHES'] ?? 60)
        console.log(`seed ${seed}, ${runs} runs`)
        let state = seed
        const random = (): number => {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          return state / 2 ** 32
        }
        const jobs = Array.from({ length: runs }, (_, index) => async () => {
          const here = place()
          const { kept } = await kill(here, 0, { delay: random() * 60 })
          await checkAfter(here, kept, `run ${index} of seed ${seed}`)
          clearAway(here)
        })
        await all(jobs)
      },
    )
  })
}
