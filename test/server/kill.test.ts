import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { AssistantTurn } from '../../src/model/turn.ts'
import { provider } from '../../src/agent/library/provider.ts'
import { scriptedServer } from '../../src/rehearsal/testing/scripted-server.ts'
import { localBackend } from '../../src/server/local/local-backend.ts'
import { serve } from '../../src/server/serve.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { clearAway } from '../support/clear.ts'

const TOKEN = 'token-of-the-kill-test'
const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)

/** This file is its own server: started with these words, it serves until it is killed. */
const [, , role, folder = '', modelUrl = '', port = '0'] = process.argv
if (role === '--serve') await runServer()
else killTests()

async function runServer(): Promise<void> {
  const model = provider('openai', { apiKey: 'k', baseUrl: `${modelUrl}/v1` })('gpt-5')
  const server = await serve({
    backend: localBackend({ folder: join(folder, 'data') }),
    token: TOKEN,
    port: Number(port),
    agents: { main: ({ session }) => ({ model, tools: [createCounter(session)] }) },
    onError: (message) => console.error(message),
  })
  process.stdout.write(`${server.url}\n`)
}

/** Every run of the tool leaves a line, before and after it takes a while: a second run cannot hide. */
function createCounter(session: string) {
  return tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    effects: () => [],
    async execute({ n }) {
      appendFileSync(join(folder, 'effects'), `${session} ${n}\n`)
      await new Promise((resolve) => setTimeout(resolve, 40))
      return `counted ${n}`
    },
  })
}

function killTests(): void {
  test(`kill -9 at random: every acknowledged prompt ends, and nothing runs twice (seed ${seed})`, async (t) => {
    t.diagnostic(`seed ${seed}`)
    const place = mkdtempSync(join(tmpdir(), 'dragoman-kill-'))
    let state = seed >>> 0
    const next = (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
    const calls = [1, 2, 3, 4].map((n) => ({ call: [{ name: 'count', args: { n } }], delay: 20 }))
    const parallel = { call: [5, 6, 7].map((n) => ({ name: 'count', args: { n } })), delay: 20 }
    const model = await scriptedServer({ start: 'prompt', steps: [...calls, parallel, { say: 'Done.' }] })
    let child: ChildProcess | undefined
    let url = ''
    let address = '0'
    const errors: string[] = []

    async function start(): Promise<void> {
      const self = fileURLToPath(import.meta.url)
      const args = ['--enable-source-maps', self, '--serve', place, model.url, address]
      const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: {} })
      child = started
      started.stderr.on('data', (text: Buffer) => errors.push(text.toString()))
      url = await new Promise<string>((resolve, reject) => {
        started.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()))
        started.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${errors.join('')}`)))
      })
      address = new URL(url).port
    }

    const kill = (): Promise<void> =>
      new Promise((resolve) => {
        child?.once('exit', () => resolve())
        child?.kill('SIGKILL')
      })

    /** Repeats a request with the same key until it is answered, as a client does. */
    async function post(path: string, body: object, key: string): Promise<number> {
      for (const end = Date.now() + 120_000; ;) {
        try {
          const response = await fetch(`${url}${path}`, {
            method: 'POST',
            headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', 'idempotency-key': key },
            body: JSON.stringify(body),
          })
          await response.text()
          return response.status
        } catch (error) {
          if (Date.now() > end) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    }

    const SESSIONS = 10
    const acknowledged: string[] = []
    await start()
    const clients = Array.from({ length: SESSIONS }, async (_, at) => {
      const id = `s${at}`
      await new Promise((resolve) => setTimeout(resolve, next(3000)))
      const created = await post('/v1/sessions', { id }, 'create')
      assert.ok(created === 201 || created === 409, String(created))
      // Twice, as after a lost answer.
      for (let times = 0; times < 2; times++)
        assert.equal(await post(`/v1/sessions/${id}/prompts`, { input: 'Count.' }, 'the-prompt'), 202)
      acknowledged.push(id)
    })
    const countEffects = (): number =>
      existsSync(join(place, 'effects')) ? readFileSync(join(place, 'effects'), 'utf8').split('\n').length - 1 : 0
    for (let kills = 0; kills < 6; kills++) {
      // In the middle of the work, whatever the speed of the machine.
      const target = Math.min(countEffects() + 1 + next(8), SESSIONS * 7)
      for (const end = Date.now() + 60_000; countEffects() < target && Date.now() < end;)
        await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, next(50)))
      await kill()
      await start()
    }
    await Promise.all(clients)

    const store = jsonlStore(join(place, 'data/tenants/default/sessions'))
    const isOver = async (id: string): Promise<boolean> =>
      (await store.read(id)).entries.some(({ kind }) => kind === 'close')
    for (const end = Date.now() + 120_000; ;) {
      const over = await Promise.all(acknowledged.map(isOver))
      if (over.every(Boolean)) break
      if (Date.now() > end)
        assert.fail(`not ended: ${acknowledged.filter((_, at) => !over[at]).join()} ${errors.join('')}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await kill()
    await model.close()

    assert.equal(acknowledged.length, SESSIONS)
    const effects = existsSync(join(place, 'effects'))
      ? readFileSync(join(place, 'effects'), 'utf8').trim().split('\n')
      : []
    assert.equal(
      new Set(effects).size,
      effects.length,
      `ran twice: ${effects.filter((one, at) => effects.indexOf(one) !== at).join()}`,
    )
    let interrupted = 0
    for (const id of acknowledged) {
      const { entries, damages } = await store.read(id)
      assert.deepEqual(
        damages.filter(({ what }) => what !== 'torn'),
        [],
      )
      assert.equal(entries.filter(({ kind }) => kind === 'user').length, 1, id)
      assert.deepEqual(
        entries.flatMap((entry) => (entry.kind === 'close' ? [entry.reason] : [])),
        ['done'],
        id,
      )
      assertValidTranscript(entries)
      interrupted += entries.filter((entry) => entry.kind === 'result' && entry.result.status === 'interrupted').length
      // What is in the log as done has had its effect, once.
      for (const entry of entries)
        if (entry.kind === 'result' && entry.result.status === 'ok') {
          const n = /counted (\d)/.exec(JSON.stringify(entry.result.content))?.[1]
          assert.ok(effects.includes(`${id} ${n}`), `${id} ${n}`)
        }
    }
    assert.ok(interrupted > 0, 'no kill hit a tool')
    t.diagnostic(`${effects.length} effects, ${interrupted} interrupted`)
    clearAway(place)
  })
}

/** Each call has exactly one result before the next response. */
function assertValidTranscript(entries: Awaited<ReturnType<ReturnType<typeof jsonlStore>['read']>>['entries']): void {
  let open: string[] = []
  const idsOf = ({ parts }: AssistantTurn): string[] => parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []))
  for (const entry of entries) {
    if (entry.kind === 'turn') {
      assert.deepEqual(open, [])
      open = idsOf(entry.turn)
    }
    if (entry.kind === 'result') {
      assert.ok(open.includes(entry.result.id), 'a result without a call')
      open = open.filter((id) => id !== entry.result.id)
    }
    if (entry.kind === 'close') assert.deepEqual(open, [])
  }
}
