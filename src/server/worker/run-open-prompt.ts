import { createAgentOnLog } from '../../agent/library/create-agent.ts'
import { toJsonEvent } from '../../agent/library/event-stream-response.ts'
import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { Agent } from '../../agent/library/library-agent.ts'
import type { Run } from '../../agent/library/run-handle.ts'
import type { JsonObject } from '../../model/json.ts'
import type { UserTurn } from '../../model/turn.ts'
import type { Job, JobOutcome } from '../backend.ts'
import type { ServedAgent } from './agent-source.ts'
import type { AttachedLog } from './attached-log.ts'
import { createLivePublisher } from './live-publisher.ts'
import { getRetryDelay } from './retry-delay.ts'
import { listMessageIds } from './session-progress.ts'
import { type SessionWorkerOptions, STOPPED } from './worker-options.ts'

interface OpenPrompt {
  readonly job: Job
  readonly attached: AttachedLog
  readonly served: ServedAgent
  /** The session must be left at once. */
  readonly stop: AbortSignal
}

/**
 * Lets the agent work on the prompt that is open in the log, until it ends or parks. Meanwhile, messages to the run reach
 * it, and `cancel` stops it. Returns why the session must be left, if it must.
 */
export async function runOpenPrompt(
  { backend, limitModel, retry, now = Date.now, onRunEnd }: SessionWorkerOptions,
  { job, attached, served, stop }: OpenPrompt,
): Promise<JobOutcome | undefined> {
  const started = now()
  let retryMs: number | undefined
  const agent = createAgentOnLog({ ...served.options, store: backend.getStore(job.tenant) }, attached.createView(), {
    ...served.context,
    canRetryLater(fault) {
      retryMs = getRetryDelay(fault, attached.entries, now(), retry)
      return retryMs !== undefined
    },
    ...(limitModel && { limitModel: (model) => limitModel(job.tenant, model) }),
  })
  const live = createLivePublisher((event) => backend.live.publish(job, event))
  const run = agent.resume({ signal: stop })
  const messages = forwardMessages({ backend, job, attached, agent, run })
  let after = attached.entries.at(-1)?.seq ?? 0
  try {
    for await (const event of run) {
      if (event.type === 'entry') {
        after = event.entry.seq
        messages.onEntry()
      } else if (LIVE_EVENTS.has(event.type)) live.publish({ ...(toJsonEvent(event) as JsonObject), after })
    }
    const { finish, fault } = await run
    if (stop.aborted) return STOPPED
    onRunEnd?.({ tenant: job.tenant, reason: finish, ms: now() - started })
    if (finish === 'fault' && retryMs !== undefined)
      return { kind: 'retry', afterMs: retryMs, reason: fault?.message ?? finish }
    if (finish === 'unsaved') return { kind: 'retry', afterMs: UNSAVED_RETRY_MS, reason: fault?.message ?? finish }
    return undefined
  } finally {
    await messages.stop()
    live.flush()
    await agent.close()
  }
}

const UNSAVED_RETRY_MS = 2000

/** The others are in the log, or for this process only. */
const LIVE_EVENTS: ReadonlySet<RunEvent['type']> = new Set([
  'run-open',
  'turn',
  'call',
  'progress',
  'ask',
  'reply',
  'budget',
  'compact',
  'output',
  'notice',
  'subagent',
  'handoff',
  'run-close',
])

/** Watches the inbox during a run. A message leaves the inbox after it is in the log. */
function forwardMessages({
  backend: { inbox },
  job,
  attached,
  agent,
  run,
}: Pick<SessionWorkerOptions, 'backend'> &
  Pick<OpenPrompt, 'job' | 'attached'> & { readonly agent: Agent<unknown>; readonly run: Run<unknown> }) {
  const sent = new Set<string>()
  let work = Promise.resolve()

  async function readInbox(): Promise<void> {
    const known = listMessageIds(attached.entries)
    const waiting = await inbox.list(job)
    const cancelled = waiting.findLastIndex(({ kind }) => kind === 'cancel')
    if (cancelled >= 0) return run.cancel()
    for (const message of waiting) {
      if (message.kind !== 'user' || !message.steer || sent.has(message.id) || known.has(message.id)) continue
      sent.add(message.id)
      const parts = message.parts as unknown as UserTurn['parts']
      attached.nameMessage(parts, message.id)
      agent.send(parts)
    }
    const done = waiting.flatMap(({ id }) => (known.has(id) ? [id] : []))
    if (done.length === 0) return
    await attached.flush()
    await inbox.remove(job, done)
  }

  // A failure is met again when the inbox is read after the run.
  const readSoon = (): void => void (work = work.then(readInbox).catch(() => undefined))
  const watcher = inbox.watch(job, readSoon)
  readSoon()
  return {
    onEntry(): void {
      if (sent.size > 0 && attached.entries.at(-1)?.kind === 'user') readSoon()
    },
    async stop(): Promise<void> {
      watcher.stop()
      await work
    },
  }
}
