import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Cluster, type ClusterWorker, startCluster, waitUntil } from '../support/cluster/cluster.ts'
import { type ProcessConfig, runApproverProcess, runWorkerProcess } from '../support/cluster/worker-process.ts'
import { skipWithoutPostgres } from '../support/postgres.ts'

/** The number of rounds of 200 sessions; without it, one small round. Leases and heartbeats have their default times. */
const ROUNDS = Number(process.env['DRAGOMAN_CHAOS'] ?? 0)
const FIRST_SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

/** This file is also the other processes. */
const [, , role, config = '{}'] = process.argv
if (role === '--worker') await runWorkerProcess(JSON.parse(config) as ProcessConfig)
else if (role === '--approver') await runApproverProcess(JSON.parse(config) as ProcessConfig)
else describe('a cluster in chaos', { skip: skipWithoutPostgres }, chaos)

function chaos(): void {
  const program = fileURLToPath(import.meta.url)
  const sessionCount = ROUNDS > 0 ? 200 : 12
  for (let round = 0; round < Math.max(ROUNDS, 1); round++) {
    const seed = FIRST_SEED + round
    test(`no effect is done twice, and nothing is lost (seed ${seed}, ${sessionCount} sessions)`, async (t) => {
      const random = createRandom(seed + 1e6)
      const startedAt = performance.now()
      const cluster = await startCluster({
        program,
        config: { toolMs: 300 },
        modelMs: () => 20 + Math.random() * 200,
      })
      t.after(() => cluster.close())
      const sessions = Array.from({ length: sessionCount }, (_, at) => `s${at}`)
      const workers = [await cluster.startWorker(), await cluster.startWorker(), await cluster.startWorker()]
      cluster.startApprover()
      await Promise.all(workers.map(({ ready }) => ready))
      let isOver = false
      const disturbed = disturb(cluster, workers, createRandom(seed), () => isOver).finally(() => (isOver = true))
      for (const session of sessions) {
        for (;;) {
          try {
            await cluster.submit(session)
            break
          } catch {
            // The database is being restarted. What was created before that is found again.
            await pause(100)
          }
        }
        await pause(random() * (ROUNDS > 0 ? 50 : 300))
      }
      const ends = async () => (await cluster.countClosed()) === sessionCount
      await waitUntil('it is over', async () => isOver || (await ends()), { ms: 900_000, everyMs: 250 })
      isOver = true
      const deeds = await disturbed
      await waitUntil('every session ends', ends, { ms: ROUNDS > 0 ? 900_000 : 300_000, everyMs: 250 })
      const problems = await cluster.findProblems(sessions)
      const seconds = Math.round((performance.now() - startedAt) / 1000)
      const requests = [...cluster.model.requests.values()].flat().length
      const summary = `seed ${seed}: ${deeds.join(', ')}; ${cluster.listEffects().length} effects, ${requests} requests, ${problems.length} problems, ${seconds} s`
      t.diagnostic(summary)
      // Diagnostics are printed after the last round.
      if (ROUNDS > 0) process.stderr.write(`${summary}\n`)
      assert.deepEqual(problems, [])
    })
  }

  for (const isUnfenced of [false, true])
    test(`a worker that was paused ${isUnfenced ? 'and has no fencing does effects twice' : 'does none twice'}`, async (t) => {
      const cluster = await startCluster({ program, config: { toolMs: 100, isFree: true } })
      t.after(() => cluster.close())
      // Without fencing it also believes that nobody can take anything from it.
      const never = { isUnfenced, deadAfterMs: 1e8, leaseMs: 1e8 }
      const first = await cluster.startWorker(isUnfenced ? never : {})
      await first.ready
      const sessions = ['p0', 'p1', 'p2', 'p3']
      for (const session of sessions) await cluster.submit(session)
      await waitUntil('it works', () => cluster.listEffects().length >= 8)
      first.child.kill('SIGSTOP')
      const second = await cluster.startWorker()
      await second.ready
      await waitUntil('the other one goes on', () => hasEffectOf(cluster, second, sessions))
      first.child.kill('SIGCONT')
      await waitUntil('every session ends', async () => (await cluster.countClosed()) === sessions.length)
      await pause(2000)
      const problems = await cluster.findProblems(sessions)
      const repeats = problems.filter((one) => one.includes('was done by'))
      if (isUnfenced) assert.notEqual(repeats.length, 0, 'the test does not notice what it is for')
      else assert.deepEqual(problems, [])
    })
}

function hasEffectOf(cluster: Cluster, { child }: ClusterWorker, sessions: readonly string[]): boolean {
  const effects = cluster.listEffects().filter((line) => line.endsWith(` ${child.pid}`))
  return sessions.every((session) => effects.some((line) => line.startsWith(`${session} `)))
}

/** Kills, pauses and cuts off workers, and restarts the database, so many times, or until it is over; then all is as it should be. */
async function disturb(
  cluster: Cluster,
  workers: ClusterWorker[],
  random: () => number,
  isOver: () => boolean,
): Promise<string[]> {
  const counts = new Map<string, number>()
  const healing = new Set<Promise<unknown>>()
  const later = (ms: number, heal: () => unknown): void => {
    const one = pause(ms).then(heal)
    healing.add(one)
    void one.finally(() => healing.delete(one))
  }
  // Each of them at least once, whatever the numbers are.
  const plan = ['kill', 'pause', 'cut', 'freeze', 'restart'].sort(() => random() - 0.5)
  for (let left = ROUNDS > 0 ? 40 : 10; left > 0 && !isOver(); left--) {
    await pause(300 + random() * 1500)
    const at = Math.floor(random() * workers.length)
    const worker = workers[at]
    if (!worker || isOver()) break
    const deed =
      plan.shift() ?? ['kill', 'kill', 'pause', 'pause', 'cut', 'freeze', 'restart'][Math.floor(random() * 7)]
    // Some are declared dead meanwhile, and come back when others have their sessions.
    const ms = 300 + random() * 10_000
    counts.set(deed ?? '', (counts.get(deed ?? '') ?? 0) + 1)
    if (deed === 'kill') {
      worker.child.kill('SIGKILL')
      workers[at] = await cluster.startWorker()
    } else if (deed === 'pause') {
      worker.child.kill('SIGSTOP')
      later(ms, () => worker.child.kill('SIGCONT'))
    } else if (deed === 'cut') {
      worker.proxy.cut()
      later(ms, () => worker.proxy.restore())
    } else if (deed === 'freeze') {
      worker.proxy.freeze()
      later(ms, () => worker.proxy.restore())
    } else {
      await cluster.server.stop()
      await pause(random() * 1500)
      await cluster.server.start()
    }
  }
  await Promise.all(healing)
  return [...counts].map(([deed, count]) => `${deed} ${count}×`)
}

/** Numbers from 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
