import { createInterruptedResult, findOpenApprovals, findOpenCalls } from '../../session/open-calls.ts'
import type { UserTurn } from '../../model/turn.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { defined } from '../../model/defined.ts'
import type { JsonObject } from '../../model/json.ts'
import { type SessionLog, StoreError } from '../../session/store/store.ts'
import type { Model } from '../../provider/index.ts'
import type { InboxMessage, Job, JobOutcome } from '../backend.ts'
import { readSessionSettings } from '../session-settings.ts'
import type { ServedAgent, SessionContext } from './agent-source.ts'
import { attachLog, type AttachedLog } from './attached-log.ts'
import { runOpenPrompt } from './run-open-prompt.ts'
import { createPromptId, getCurrentPromptId, getProgress, listMessageIds } from './session-progress.ts'
import { type SessionWorkerOptions, STOPPED } from './worker-options.ts'

type UserMessage = Extract<InboxMessage, { kind: 'user' }>

/** Does what is left to do on an open session, until nothing is, or calls wait for approval, or it must stop. */
export async function workOnSession(
  options: SessionWorkerOptions,
  job: Job,
  log: SessionLog,
  signal: AbortSignal,
): Promise<JobOutcome> {
  const { inbox } = options.backend
  const attached = attachLog(log)
  const stop = AbortSignal.any([signal, log.lost])
  const onStop = (): void => attached.detach()
  stop.addEventListener('abort', onStop, { once: true })
  let served: ServedAgent | undefined
  const limitModel = (model: Model): Model => options.limitModel?.(job.tenant, model) ?? model
  const openAgent = async () => (served ??= await options.openAgent(describeContext(), stop, limitModel))
  const describeContext = (): SessionContext => ({
    ...toKey(job),
    settings: readSessionSettings(attached.entries),
    ...defined({ created: attached.entries.findLast(({ kind }) => kind === 'open')?.at }),
  })
  try {
    for (;;) {
      if (stop.aborted) return STOPPED
      await applyMessages(attached, await inbox.list(job))
      const progress = getProgress(attached)
      if (progress === 'waiting') return { kind: 'waiting' }
      if (progress === 'answered') closePrompt(attached, log.id, 'done')
      else if (progress === 'open') {
        const outcome = await runPrompt()
        if (outcome) return outcome
      } else if (!(await startNextPrompt())) return { kind: 'done' }
    }
  } finally {
    stop.removeEventListener('abort', onStop)
    if (!stop.aborted) await attached.flush()
    await served?.close?.()
  }

  async function applyMessages(to: AttachedLog, messages: readonly InboxMessage[]): Promise<void> {
    const handled = [...applyCancel(to, log.id, messages), ...applyReplies(to, messages)]
    if (handled.length === 0) return
    await to.flush()
    await inbox.remove(job, handled)
  }

  /** What comes back is why the worker leaves the session. */
  async function runPrompt(): Promise<JobOutcome | undefined> {
    try {
      return await runOpenPrompt(options, { job, attached, served: await openAgent(), stop })
    } catch (error) {
      if (error instanceof StoreError || stop.aborted) throw error
      const fault: JsonObject = { kind: 'invalid', message: getErrorMessage(error) }
      attached.append({ kind: 'fault', fault, prompt: getCurrentPromptId(log.id, attached.entries) })
      closePrompt(attached, log.id, 'fault')
      return undefined
    }
  }

  async function startNextPrompt(): Promise<boolean> {
    const messages = (await inbox.list(job)).filter((message) => message.kind === 'user')
    const known = listMessageIds(attached.entries)
    const past = messages.filter(({ id }) => known.has(id)).map(({ id }) => id)
    const next = messages.find(({ id }) => !known.has(id))
    if (next) appendUserMessage(attached, log.id, next)
    if (next) await attached.flush()
    const handled = next ? [...past, next.id] : past
    if (handled.length > 0) await inbox.remove(job, handled)
    return next !== undefined
  }
}

function toKey({ tenant, session }: Job): { tenant: string; session: string } {
  return { tenant, session }
}

function appendUserMessage(log: AttachedLog, session: string, { id, parts }: UserMessage): void {
  log.append({
    kind: 'user',
    parts: parts as unknown as UserTurn['parts'],
    prompt: createPromptId(session, log.entries),
    message: id,
  })
}

function closePrompt(log: AttachedLog, session: string, reason: string): void {
  for (const open of findOpenCalls(log)) log.append({ kind: 'result', result: createInterruptedResult(open), ms: 0 })
  log.append({ kind: 'close', prompt: getCurrentPromptId(session, log.entries), reason })
}

/** Stops what is open and what waits before the last `cancel`. All of it ends in the log. Returns the messages that are done. */
function applyCancel(log: AttachedLog, session: string, messages: readonly InboxMessage[]): string[] {
  const last = messages.findLastIndex(({ kind }) => kind === 'cancel')
  if (last < 0) return []
  if (getProgress(log) !== 'idle') closePrompt(log, session, 'cancelled')
  const known = listMessageIds(log.entries)
  const before = messages.slice(0, last + 1)
  for (const message of before)
    if (message.kind === 'user' && !known.has(message.id)) {
      appendUserMessage(log, session, message)
      closePrompt(log, session, 'cancelled')
    }
  return before.map(({ id }) => id)
}

/** Writes the answers to open questions. Returns the messages that are done: also those that came too late. */
function applyReplies(log: AttachedLog, messages: readonly InboxMessage[]): string[] {
  const replies = messages.filter((message) => message.kind === 'reply')
  for (const { ask, answer } of replies) {
    if (!findOpenApprovals(log).some((open) => open.ask === ask)) continue
    const outcome = answer['approved'] === true ? 'proceed-once' : 'cancel'
    const words = typeof answer['message'] === 'string' ? answer['message'] : undefined
    log.append({ kind: 'reply', ask, outcome, ...defined({ words }) })
  }
  return replies.map(({ id }) => id)
}
