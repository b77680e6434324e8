import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { Clock } from '../../src/provider/clock.ts'
import { createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { HttpClient } from '../../src/provider/http/http-client.ts'
import { DEFAULT_TIMEOUTS } from '../../src/provider/http/timeouts.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { type Random, startRandom } from '../support/mutate-random.ts'
import { agentOf, closing, modelOn, play } from '../support/stage.ts'
import { fakeClock } from './support/clock.ts'
import { faultsOn, type Plan, planOf, scriptOf } from './support/storm.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)
/** Faulty answers in all, on all wires together. */
const FAULTS = Number(process.env['DRAGOMAN_STORM'] ?? 10_000)
const FAULTS_PER_WIRE = Math.ceil(FAULTS / wireIds.length)
const TURNS = 20
/** Whatever the silences add up to: what is tested here is what happens after them. */
const ALL_THE_TIME = 24 * 60 * 60_000

for (const wire of wireIds) {
  test(`${FAULTS_PER_WIRE} faulty turns on ${wire} (DRAGOMAN_SEED=${SEED})`, async () => {
    const faults = faultsOn(wire)
    const seen = new Set<string>()
    const plans: Plan[] = []
    for (let met = 0; met < FAULTS_PER_WIRE;) {
      const plan = planOf(startRandom(SEED, plans.length, wireIds.indexOf(wire)), faults, TURNS)
      plans.push(plan)
      for (const one of plan.answers) if (one) seen.add(JSON.stringify(one.one))
      met += plan.answers.filter(Boolean).length
    }
    if (FAULTS >= 10_000) assert.equal(seen.size, faults.length, 'every fault came')
    const scripts = Object.fromEntries(plans.map((plan, at) => [`s${at}`, scriptOf(plan)]))
    const server = await startRehearsalServer({ scripts, maxRecords: 20 })
    try {
      const post = createHttpClient({})
      for (const [at, plan] of plans.entries())
        await weather(wire, server, plan, { name: `s${at}`, post, random: startRandom(SEED, at, 7) })
      assert.deepEqual(server.failures, [])
    } finally {
      await server.close()
    }
  })
}

/** Lets one session go through its faults, and holds the agent to its promises. */
async function weather(
  wire: WireId,
  server: RehearsalServer,
  plan: Plan,
  { name, post, random }: { name: string; post: HttpClient; random: Random },
): Promise<void> {
  const ran: number[] = []
  const count = tool({
    name: 'count',
    description: 'Counts.',
    parameters: {
      type: 'object',
      properties: { n: { type: 'integer' }, why: { type: 'string' } },
      required: ['n', 'why'],
    },
    effects: () => [],
    execute: ({ n }) => {
      ran.push(n)
      return `counted ${n}.`
    },
  })
  const time = weatherClock()
  let asked = 0
  const watched: HttpClient = async (letter, signal) => {
    const fault = plan.answers[asked++]
    const reply = await post(letter, signal)
    return fault?.silent ? { ...reply, body: silent(reply.body, time.pass) } : reply
  }
  const inner = modelOn(wire, server, name, undefined, { httpClient: watched, clock: time.still })
  const model = withRetry(inner, { clock: time.hasty, random: () => random.next(), total: ALL_THE_TIME })
  const agent = agentOf(model, [count], { clock: time.still })
  const ends = plan.answers.filter((fault) => fault?.fate === 'end').length
  const told = `DRAGOMAN_SEED=${SEED}, session ${name} on ${wire}`

  let events: RunEvent[] = await play(agent, 'count')
  for (let round = 0; round < ends; round++) {
    assert.equal(closing(events).reason, 'fault', `${told}, after ${asked} answers`)
    events = await play(agent, 'go on')
  }
  assert.deepEqual(
    [closing(events).reason, closing(events).text],
    ['done', 'All done.'],
    `${told}, after ${asked} answers`,
  )
  const wanted = plan.turns.flatMap(({ faults, calls }) => (faults.at(-1)?.fate === 'spent' ? [] : calls))
  // In order, each once: nothing is lost, and nothing runs twice. A lie about the length costs only the last call.
  const spared = new Set(plan.turns.flatMap(({ faults, calls }) => (faults.at(-1)?.fate === 'spent' ? calls : [])))
  assert.deepEqual(
    ran.filter((n) => !spared.has(n)),
    wanted,
    told,
  )
  assert.equal(new Set(ran).size, ran.length, `${told}: a tool ran twice`)
  assert.equal(asked, plan.answers.length, `${told}: each answer was asked for once`)
  assert.ok(time.longestWait <= 30_000 * 1.25, `${told}: waited ${time.longestWait} ms at once`)
  const silences = plan.answers.filter((fault) => fault?.silent).length
  assert.ok(
    time.still.now() <= TURNS * 120_000 + silences * (DEFAULT_TIMEOUTS.quiet + 1),
    `${told}: it took ${time.still.now()} ms`,
  )
}

/** One time for all: it passes at once while somebody waits for the next attempt, and otherwise only when it is told to. */
function weatherClock() {
  const still = fakeClock()
  let longestWait = 0
  const hasty: Clock = {
    now: () => still.now(),
    schedule(ms, call) {
      let on = true
      longestWait = Math.max(longestWait, ms)
      setImmediate(() => {
        if (!on) return
        still.advance(ms)
        call()
      })
      return () => {
        on = false
      }
    },
  }
  return {
    still,
    hasty,
    pass: () => still.advance(DEFAULT_TIMEOUTS.quiet + 1),
    get longestWait() {
      return longestWait
    },
  }
}

/** A body of which no more comes: once its first bytes are read, time passes. */
async function* silent(body: AsyncIterable<Uint8Array>, pass: () => void): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    setImmediate(pass)
    yield piece
  }
}
