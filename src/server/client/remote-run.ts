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
  const completeText = createTextCompleter()
  try {
    for await (const event of client.follow(session, after, end.signal)) {
      const entry = event.name === 'entry' ? (event.data as unknown as Entry) : undefined
      if (entry?.kind === 'user' && entry.message === message) isOurs = true
      promptId ??= entry?.kind === 'user' ? entry.message : undefined
      if (!isOurs) continue
      yield* completeText(event)
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

/**
 * Live text may be lost on its way, or come after the response is in the log. What is missing by then is made up from the log,
 * and what comes later is left out: whoever shows the deltas shows all of the text, once.
 */
function createTextCompleter(): (event: ServerEvent) => Generator<RunEvent> {
  let shown = ''
  let nextIndex = 0
  let lastTurn = 0
  return function* (serverEvent) {
    const { after } = serverEvent.data
    for (const event of toRunEvents(serverEvent)) {
      if (event.type === 'turn') {
        if (typeof after === 'number' && after < lastTurn) continue
        const { event: change } = event
        if (change.type === 'open') [shown, nextIndex] = ['', 0]
        if ('index' in change) nextIndex = Math.max(nextIndex, change.index + 1)
        if (change.type === 'part-delta' && change.kind === 'text') shown += change.text
      }
      if (event.type === 'entry' && event.entry.kind === 'turn') {
        const text = event.entry.turn.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
        const rest = text.startsWith(shown) ? text.slice(shown.length) : ''
        if (rest !== '')
          yield { type: 'turn', event: { type: 'part-delta', index: nextIndex, kind: 'text', text: rest } }
        ;[shown, nextIndex, lastTurn] = ['', 0, event.entry.seq]
      }
      yield event
    }
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
  const { after: _unused, ...live } = data
  if (name === 'live' && typeof live['type'] === 'string' && !ENDS.has(live['type'])) yield live as unknown as RunEvent
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
