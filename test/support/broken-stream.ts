import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { run } from '../../src/agent/loop/run.ts'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import { createTextOutput } from '../../src/cli/output/text-output.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { ModelOptions } from '../../src/provider/http/node-http-client.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import type { Entry } from '../../src/session/log/entry.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { hastyClock } from '../provider/support/clock.ts'
import type { FaultCase } from './faults.ts'
import { agentOf, closing, KEY, modelOn, rehearse } from './stage.ts'
import { clearAway } from './clear.ts'

const root = mkdtempSync(join(tmpdir(), 'dragoman-faults-'))
after(() => clearAway(root))

/** A run against a server that misbehaves. */
export interface Staging {
  readonly wire: WireId
  /** The first answer, with what goes wrong in it; the second one is plain text. */
  readonly first: ScriptStep
  readonly script?: Partial<RehearsalScript>
  readonly port?: ModelOptions
  /** Watches the run from outside, and may move clocks. */
  readonly meanwhile?: (server: RehearsalServer, over: () => boolean) => Promise<void>
}

/** What came of it. */
export interface Outcome {
  readonly server: RehearsalServer
  readonly events: readonly RunEvent[]
  /** What the person saw. */
  readonly out: string
  readonly err: string
  /** With what the tool ran. */
  readonly ran: readonly JsonObject[]
  /** What is on the disk. */
  readonly entries: readonly Entry[]
  /** How long it waited before asking again. */
  readonly waits: readonly number[]
  /** How often the first request was sent. */
  readonly attempts: number
}

/** The call of a good answer. */
export const COUNT = { name: 'count', args: { n: 7 } } as const

/** An answer that thinks, talks and calls. */
export const ANSWER: ScriptStep = {
  think: 'Let me think about it.',
  say: 'I am counting now.',
  call: [COUNT],
  pieces: 4,
}

/** Plays a run to its end, checks what must always hold, and that the session goes on afterwards. */
export async function survive(fault: FaultCase, staging: Staging): Promise<Outcome> {
  const { wire, first, script, port, meanwhile } = staging
  const server = await rehearse([first, { say: 'All is well.' }], { end: { say: 'Still well.' }, ...script })
  const store = jsonlStore(mkdtempSync(join(root, 'run-')))
  const ran: JsonObject[] = []
  const clock = hastyClock()
  const model = withRetry(modelOn(wire, server, 'script', createIncrementalBodyWriter, port), { clock })
  const play = async (said: string): Promise<Pick<Outcome, 'events' | 'out' | 'err'>> => {
    const log = said === 'go' ? await store.create({ id: 'session', folder: '/' }) : await store.open('session')
    const agent = agentOf(model, [counting(ran)], { session: resumeSession(log) })
    const events: RunEvent[] = []
    let [out, err] = ['', '']
    const output = createTextOutput({ out: (text) => (out += text), err: (text) => (err += text) })
    for await (const event of run(agent, [{ kind: 'text', text: said }])) {
      events.push(event)
      output.onEvent(event)
    }
    await log.close()
    return { events, out, err }
  }
  try {
    let over = false
    const watching = meanwhile?.(server, () => over)
    const seen = await play('go')
    over = true
    await watching
    const { entries } = await store.read('session')
    const [one] = server.requests
    const attempts = server.requests.filter(({ bytes }) => one && bytes.equals(one.bytes)).length
    const outcome = { ...seen, server, ran, entries, waits: [...clock.waits], attempts }
    checkAlways(fault, outcome)
    checkAttempts(fault, outcome)
    // The session goes on: what was kept is a history that the vendor accepts.
    if (closing(seen.events).reason === 'done') assert.equal(closing((await play('and now?')).events).reason, 'done')
    assert.deepEqual(server.failures, [], `${fault.id} on ${wire}`)
    return outcome
  } finally {
    await server.close()
  }
}

/** What must hold whatever happens. */
function checkAlways({ id }: FaultCase, { events, entries, ran, err, out }: Outcome): void {
  const shown = events.flatMap((event) => (event.type === 'entry' ? [JSON.stringify(event.entry)] : []))
  const kept = new Set(entries.map((entry) => JSON.stringify(entry)))
  for (const entry of shown) assert.ok(kept.has(entry), `${id}: shown, but not on the disk: ${entry}`)
  assert.equal(entries.filter(({ kind }) => kind === 'user').length, 1, `${id}: what the person said is there once`)
  const intents = entries.flatMap((entry) => (entry.kind === 'intent' ? [entry.call] : []))
  assert.equal(new Set(intents).size, intents.length, `${id}: a call ran twice`)
  assert.equal(ran.length, intents.length, `${id}: a tool ran without a word in the log`)
  assert.ok(!`${err}${out}${JSON.stringify(entries)}`.includes(KEY), `${id}: the key is shown`)
  const end = closing(events)
  if (end.reason === 'done') return
  const last = err.trimEnd().split('\n').at(-1) ?? ''
  assert.match(last, /^dragoman: .{20,}\.$/, `${id}: one line for the person`)
  assert.doesNotMatch(err, /\n\s+at /, `${id}: a stack trace`)
}

function checkAttempts({ id, expect }: FaultCase, { attempts, err }: Outcome): void {
  assert.ok(attempts <= Math.max(1, expect.maxAttempts), `${id}: asked ${attempts} times: ${err}`)
  if (expect.retried === 'yes') assert.ok(attempts > 1, `${id}: it was not asked again`)
}

/** A tool that notes with what it ran; it takes whatever comes. */
function counting(ran: JsonObject[]) {
  return tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' }, path: { type: 'string' } } },
    effects: () => [],
    execute: (input: JsonObject) => {
      ran.push(input)
      return `counted ${JSON.stringify(input)}`
    },
  })
}
