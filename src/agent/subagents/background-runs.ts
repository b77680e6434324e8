import { getErrorMessage } from '../../model/error-message.ts'
import type { Clock } from '../../provider/index.ts'
import type { RunEvent } from '../loop/run-event.ts'

/** What a subagent that ran in the background has to say at its end. */
export interface BackgroundReport {
  readonly session: string
  readonly text: string
}

/** Subagents that run beside the run that started them. The run takes their events and reports, and ends after them. */
export interface BackgroundRuns {
  /** The number of those that still run. */
  readonly count: number
  start(session: string, work: (emit: (event: RunEvent) => void, signal: AbortSignal) => Promise<string>): void
  takeEvents(): readonly RunEvent[]
  takeReports(): readonly BackgroundReport[]
  /** Resolves when there is an event or a report, none runs any more, or `isInterrupted` is true. */
  waitForNews(clock: Clock, isInterrupted: () => boolean): Promise<void>
  /** Stops all, and waits for their ends. */
  stop(): Promise<void>
}

export function createBackgroundRuns(): BackgroundRuns {
  const running = new Set<Promise<void>>()
  const stops = new Set<AbortController>()
  let events: RunEvent[] = []
  let reports: BackgroundReport[] = []
  return {
    get count() {
      return running.size
    },
    start(session, work) {
      const stop = new AbortController()
      stops.add(stop)
      const finish = async (): Promise<void> => {
        const text = await work((event) => events.push(event), stop.signal).catch(
          (error: unknown) => `It failed: ${getErrorMessage(error)}`,
        )
        reports.push({ session, text })
        stops.delete(stop)
      }
      const run: Promise<void> = finish().finally(() => running.delete(run))
      running.add(run)
    },
    takeEvents() {
      const taken = events
      events = []
      return taken
    },
    takeReports() {
      const taken = reports
      reports = []
      return taken
    },
    async waitForNews(clock, isInterrupted) {
      while (events.length === 0 && reports.length === 0 && running.size > 0 && !isInterrupted())
        await new Promise<void>((resolve) => clock.schedule(POLL_MS, resolve))
    },
    async stop() {
      for (const stop of stops) stop.abort()
      await Promise.all(running)
    },
  }
}

const POLL_MS = 50
