/** The time for measuring durations. Not `performance.now`, which loads another module when it is first used. */
export function getUptimeMs(): number {
  return process.uptime() * 1000
}
