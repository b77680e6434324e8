import type { ApprovalRequest } from '../../agent/calls/call-state.ts'
import type { CloseReason, RunEvent } from '../../agent/loop/run-event.ts'
import { type Run, startRun } from '../../agent/library/run-handle.ts'
import { defined } from '../../model/defined.ts'
import { NO_USAGE } from '../../model/usage.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { PromptResult } from '../prompt-result.ts'
import type { ApiClient } from './api-client.ts'
import type { ServerEvent } from './event-source.ts'

interface RemoteRunOptions {
  readonly client: ApiClient
  readonly session: string
  readonly signal: AbortSignal | undefined
  readonly cancel: () => Promise<void>
  /** Submits the work. `message` is the id of a new prompt, `prompt` that of one which is open already. */
  readonly start: () => Promise<{ readonly message?: string; readonly prompt?: string; readonly after: number }>
}

/** A run on a server: its entries and live events, and its result, over connections that may break. */
export function startRemoteRun(options: RemoteRunOptions): Run<unknown> {
  return startRun(options.session, options.signal, (signal) => followRun(options, signal))
}

async function* followRun(
  { client, session, cancel, start }: RemoteRunOptions,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  const { message, prompt, after } = await start()
  const end = new AbortController()
  const onAbort = (): void => void cancel().catch(() => end.abort())
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  let promptId = message ?? prompt
  let isOurs = message === undefined
  try {
    for await (const event of client.follow(session, after, end.signal)) {
      const entry = event.name === 'entry' ? (event.data as unknown as Entry) : undefined
      if (entry?.kind === 'user' && entry.message === message) isOurs = true
      promptId ??= entry?.kind === 'user' ? entry.message : undefined
      if (!isOurs) continue
      yield* toRunEvents(event)
      const reason = entry?.kind === 'close' ? (entry.reason as CloseReason) : findStop(event)
      if (reason === undefined) continue
      yield await readResult(client, session, promptId, reason)
      return
    }
    yield createRunClose(session, 'cancelled')
  } finally {
    end.abort()
    signal.removeEventListener('abort', onAbort)
  }
}

/** Why nothing more comes: calls wait for approval, or the session had nothing to do. */
function findStop({ name, data }: ServerEvent): CloseReason | undefined {
  if (name !== 'state') return undefined
  return data['state'] === 'waiting' ? 'awaiting-approval' : data['state'] === 'idle' ? 'done' : undefined
}

/** What the log does not have comes as run events already; what ends a run is read from the log. */
function* toRunEvents({ name, data }: ServerEvent): Generator<RunEvent> {
  if (name === 'entry') {
    const entry = data as unknown as Entry
    yield { type: 'entry', entry }
    if (entry.kind === 'ask') yield { type: 'ask', ask: toApprovalRequest(entry) }
  }
  if (name === 'live' && typeof data['type'] === 'string' && !ENDS.has(data['type'])) yield data as unknown as RunEvent
}

const ENDS: ReadonlySet<string> = new Set(['run-close', 'ask', 'reply'])

function toApprovalRequest({ ask: id, call, details }: Entry & { kind: 'ask' }): ApprovalRequest {
  return { id, call, tool: '', details, decision: { verdict: 'ask' } } as unknown as ApprovalRequest
}

async function readResult(
  client: ApiClient,
  session: string,
  message: string | undefined,
  reason: CloseReason,
): Promise<RunEvent> {
  if (message === undefined) return createRunClose(session, reason)
  const path = `/v1/sessions/${encodeURIComponent(session)}/prompts/${encodeURIComponent(message)}`
  const { text, turns, usage, cost, fault } = await client.request<PromptResult>('GET', path)
  return { ...createRunClose(session, reason), text, turns, usage, ...defined({ cost, fault }) }
}

function createRunClose(session: string, reason: CloseReason): RunEvent & { type: 'run-close' } {
  return { type: 'run-close', reason, session, text: '', turns: 0, usage: NO_USAGE }
}
