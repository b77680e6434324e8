import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Entry, LOG_ENTRY_TRAITS } from '../../src/session/log/entry.ts'
import { type Cluster, startCluster, waitUntil } from '../support/cluster/cluster.ts'
import { measureTakeOver } from '../support/cluster/measure-take-over.ts'
import type { Death } from '../support/cluster/observed-store.ts'
import { type ProcessConfig, runApproverProcess, runWorkerProcess } from '../support/cluster/worker-process.ts'
import { skipWithoutPostgres } from '../support/postgres.ts'

/**
 * All of them: a new kind is tried, too, and the test fails until something writes it. Sessions on many machines have no
 * subagents; those of one machine are killed in test/subagents.
 */
const KINDS = (Object.keys(LOG_ENTRY_TRAITS) as Entry['kind'][]).filter((kind) => kind !== 'subagent')
const CREATION_KINDS: readonly Entry['kind'][] = ['open', 'settings']
const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

/** This file is also the other processes. */
const [, , role, config = '{}'] = process.argv
if (role === '--worker') await runWorkerProcess(JSON.parse(config) as ProcessConfig)
else if (role === '--approver') await runApproverProcess(JSON.parse(config) as ProcessConfig)
else describe('sessions of a worker that was killed', { skip: skipWithoutPostgres }, takeOver)

function takeOver(): void {
  const program = fileURLToPath(import.meta.url)

  test('are taken over with the default settings, and each goes on with its prompt by itself', async (t) => {
    const cluster = await startCluster({ program, config: { toolMs: 2000, isFree: true } })
    t.after(() => cluster.close())
    const { times, sessions } = await measureTakeOver(cluster, { rounds: 1, sessionCount: 8 })
    await waitUntil('every session ends', async () => (await cluster.countClosed()) === sessions.length)
    assert.deepEqual(await cluster.findProblems(sessions), [])
    t.diagnostic(`milliseconds until the next request to the model: ${times.map(Math.round).join(', ')}`)
    // Ten seconds are promised; a test must pass on a machine that is busy with other things.
    for (const ms of times) assert.ok(ms < 60_000, `${ms} ms`)
  })

  test('end as they should, whatever was written last', async (t) => {
    const cluster = await startCluster({ program, isDifficult: true })
    t.after(() => cluster.close())
    const sessions = await killAfterEach(
      t,
      cluster,
      KINDS.map((kind) => ({ kind, count: 1 })),
    )
    await cluster.sendPrompt('undo-1', '2')
    const hasEnded = async () => (await cluster.readEntries('undo-1')).filter(({ kind }) => kind === 'close').length > 1
    await waitUntil('the prompt after the undo ends', hasEnded)
    assert.deepEqual(await cluster.findProblems(sessions), [])
    for (const session of sessions) {
      const entries = await cluster.readEntries(session)
      const settings = entries.flatMap((entry) => (entry.kind === 'settings' ? [entry.settings] : []))
      assert.deepEqual(settings, [{ label: session }], session)
      // Otherwise the cluster is not as difficult as it should be.
      const missing = KINDS.filter((one) => one !== 'undo' && !entries.some(({ kind }) => kind === one))
      assert.deepEqual(missing, [], session)
      assert.equal(cluster.listFiles(session).length > 0, session !== 'undo-1', session)
    }
  })

  test(`end as they should, whichever of several calls at the same time was last (seed ${SEED})`, async (t) => {
    const cluster = await startCluster({ program, config: { toolMs: 400, seed: SEED } })
    t.after(() => cluster.close())
    // The second turn has three calls.
    const deaths = [2, 3, 4].flatMap((count): Death[] => [
      { kind: 'intent', count },
      { kind: 'result', count },
    ])
    const sessions = await killAfterEach(t, cluster, deaths)
    assert.deepEqual(await cluster.findProblems(sessions), [])
  })
}

/** One session for each death. Its worker dies there, and another worker goes on with all of them. */
async function killAfterEach(t: TestContext, cluster: Cluster, deaths: readonly Death[]): Promise<readonly string[]> {
  const toName = ({ kind, count }: Death) => `${kind}-${count}`
  const sessions = deaths.map(toName)
  const isCreation = ({ kind }: Death) => CREATION_KINDS.includes(kind)
  const victims = await Promise.all(
    deaths.map((death) => {
      const label = toName(death)
      return cluster.startWorker({ labels: [label], death, ...(isCreation(death) && { creates: label }) })
    }),
  )
  await Promise.all(victims.map(({ ready }) => ready))
  cluster.startApprover()
  for (const death of deaths) if (!isCreation(death)) await cluster.submit(toName(death), toName(death))
  const listAlive = () => deaths.filter((_, at) => victims[at]?.child.signalCode !== 'SIGKILL').map(toName)
  try {
    await waitUntil('every worker dies', () => listAlive().length === 0)
  } catch (error) {
    t.diagnostic(`these entries were not written: ${listAlive().join(', ')}`)
    throw error
  }
  const lastKinds = await Promise.all(
    sessions.map(async (session) => (await cluster.readEntries(session)).at(-1)?.kind ?? ''),
  )
  assert.deepEqual(
    lastKinds,
    deaths.map(({ kind }) => kind),
  )
  const survivor = await cluster.startWorker({ labels: sessions })
  await survivor.ready
  // Their client was not told that they exist, and tries it again.
  for (const death of deaths.filter(isCreation)) await cluster.submit(toName(death), toName(death))
  await waitUntil('every session ends', async () => (await cluster.countClosed()) === sessions.length)
  return sessions
}
