// For one contender of `npm run compare`, in a process of its own.
import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * Runs all sessions at once, each with its prompts one after the other, and prints what that cost. `openSession` returns a
 * function that answers a prompt and returns the text, which it got in pieces.
 */
export async function measureSessions(openSession) {
  const [, , url, sessions, prompts] = process.argv
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const started = performance.now()
  let answers = 0
  await Promise.all(
    Array.from({ length: Number(sessions) }, async (_, number) => {
      const answer = openSession(url, number)
      for (let prompt = 1; prompt <= Number(prompts); prompt++)
        if ((await answer(`Prompt ${prompt} of session ${number}.`)).endsWith('the end.')) answers++
    }),
  )
  const { user, system } = process.cpuUsage()
  const report = {
    answers,
    seconds: (performance.now() - started) / 1000,
    cpu: (user + system) / 1e6,
    memory: process.resourceUsage().maxRSS / 1024,
    lag: delay.percentile(99) / 1e6,
  }
  console.log(JSON.stringify(report))
  process.exit(0)
}
