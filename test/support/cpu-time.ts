import assert from 'node:assert/strict'

/**
 * Does some work, which must not cost more processor time than this: for work whose cost would explode if it were not
 * linear. Processor time, because how long it takes by the clock depends on what else the machine does.
 */
export async function assertCpuTime(work: () => unknown, seconds: number): Promise<void> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  const used = (user + system) / 1e6
  assert.ok(used < seconds, `${used.toFixed(1)} s of processor time, at most ${seconds} s are allowed`)
}
