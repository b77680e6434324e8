import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Entry } from '../../src/session/log/entry.ts'
import { startCluster, waitUntil } from '../support/cluster/cluster.ts'
import { type ProcessConfig, runApproverProcess, runWorkerProcess } from '../support/cluster/worker-process.ts'
import { skipWithoutPostgres } from '../support/postgres.ts'

/** Those that are written while a prompt is worked on. */
const KINDS = ['user', 'request', 'turn', 'ask', 'reply', 'intent', 'result', 'fault', 'close'] as const

/** This file is also the other processes. */
const [, , role, config = '{}'] = process.argv
if (role === '--worker') await runWorkerProcess(JSON.parse(config) as ProcessConfig)
else if (role === '--approver') await runApproverProcess(JSON.parse(config) as ProcessConfig)
else describe('sessions of a worker that was killed', { skip: skipWithoutPostgres }, takeOver)

function takeOver(): void {
  const program = fileURLToPath(import.meta.url)

  test('are taken over with the default settings, and each goes on with its prompt by itself', async (t) => {
    const cluster = await startCluster({ program, config: { toolMs: 200, isFree: true }, modelMs: () => 100 })
    t.after(() => cluster.close())
    const victim = await cluster.startWorker()
    await victim.ready
    const rescuer = await cluster.startWorker({ labels: ['later'] })
    await rescuer.ready
    // Who did not just start declares others dead: the rescuer has been there for longer than that takes.
    await new Promise((resolve) => setTimeout(resolve, 6000))
    const sessions = Array.from({ length: 8 }, (_, at) => `t${at}`)
    for (const session of sessions) await cluster.submit(session)
    const byVictim = () => cluster.listEffects().filter((line) => line.endsWith(` ${victim.child.pid}`))
    await waitUntil('both work', () => byVictim().length >= 3)
    victim.child.kill('SIGKILL')
    const killedAt = performance.now()
    const orphans = new Set(byVictim().map((line) => line.split(' ')[0] ?? ''))
    await waitUntil('every session ends', async () => (await cluster.countClosed()) === sessions.length)
    assert.deepEqual(await cluster.findProblems(sessions), [])
    const times = [...orphans].flatMap((session) => {
      const next = cluster.model.requests.get(session)?.find((at) => at > killedAt + 1000)
      return next === undefined ? [] : [Math.round(next - killedAt)]
    })
    t.diagnostic(`milliseconds until the next request to the model: ${times.sort((a, b) => a - b).join(', ')}`)
    // Ten seconds are promised; a test must pass on a machine that is busy with other things.
    for (const ms of times) assert.ok(ms < 60_000, `${ms} ms`)
  })

  test('end as they should, whatever was written last', async (t) => {
    const cluster = await startCluster({ program })
    t.after(() => cluster.close())
    cluster.model.failOnce('k-fault')
    const sessions = KINDS.map((kind) => `k-${kind}`)
    const start = (kind: Entry['kind']) => cluster.startWorker({ labels: [kind], dieAfter: kind })
    const victims = await Promise.all(KINDS.map(start))
    await Promise.all(victims.map(({ ready }) => ready))
    const approver = cluster.startApprover(sessions, KINDS)
    for (const kind of KINDS) await cluster.submit(`k-${kind}`, kind)
    await Promise.all(victims.map(({ ended }) => ended))
    for (const [at, { child }] of victims.entries()) assert.equal(child.signalCode, 'SIGKILL', KINDS[at])
    const rescuer = await cluster.startWorker({ labels: [...KINDS] })
    await rescuer.ready
    await waitUntil('every session ends', async () => (await cluster.countClosed()) === sessions.length)
    assert.deepEqual(await cluster.findProblems(sessions), [])
    approver.kill('SIGKILL')
  })
}
