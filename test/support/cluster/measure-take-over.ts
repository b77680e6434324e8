import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, waitUntil } from './cluster.ts'

/**
 * The milliseconds from the death of a worker to the next request of each of its sessions to the model. The cluster must have
 * slow tools, so that no session ends before that.
 */
export async function measureTakeOver(
  cluster: Cluster,
  { rounds, sessionCount }: { readonly rounds: number; readonly sessionCount: number },
): Promise<{ readonly times: readonly number[]; readonly sessions: readonly string[] }> {
  const survivor = await cluster.startWorker({ labels: ['none'] })
  await survivor.ready
  // Who has just started declares nobody dead.
  await pause(6000)
  const times: number[] = []
  const all: string[] = []
  for (let round = 0; round < rounds; round++) {
    const label = `round-${round}`
    const victim = await cluster.startWorker({ labels: [label] })
    await victim.ready
    const sessions = Array.from({ length: sessionCount }, (_, at) => `t${round}-${at}`)
    all.push(...sessions)
    await Promise.all(sessions.map((session) => cluster.submit(session, label)))
    const isWorkedOn = (session: string) => cluster.listEffects().some((line) => line.startsWith(`${session} `))
    await waitUntil('every session is worked on', () => sessions.every(isWorkedOn), { ms: 600_000 })
    victim.child.kill('SIGKILL')
    const killedAt = performance.now()
    // It could have taken them before, if it had had room. Nobody can take them before their worker is declared dead.
    survivor.child.stdin?.write(`${label}\n`)
    // What the dead one had sent may arrive a moment later.
    const findNext = (session: string) => cluster.model.requests.get(session)?.find((at) => at > killedAt + 500)
    await waitUntil('every session goes on', () => sessions.every((one) => findNext(one) !== undefined), {
      ms: 600_000,
    })
    for (const session of sessions) times.push((findNext(session) ?? Infinity) - killedAt)
  }
  return { times: times.sort((a, b) => a - b), sessions: all }
}
