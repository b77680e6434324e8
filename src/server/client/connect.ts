import { randomUUID } from 'node:crypto'
import type { InputPart } from '../../agent/library/agent-options.ts'
import type { PendingApproval } from '../../agent/library/approvals.ts'
import { toUserParts } from '../../agent/library/input-parts.ts'
import type { Run } from '../../agent/library/run-handle.ts'
import type { Turn } from '../../model/turn.ts'
import type { SessionInfo } from '../session-service.ts'
import type { SessionSettings } from '../session-settings.ts'
import { createApiClient, type ConnectOptions } from './api-client.ts'
import { startRemoteRun } from './remote-run.ts'

/** A connection to a server of sessions. */
export interface Connection {
  /** Creates a session. */
  create(settings?: SessionSettings & { readonly id?: string }): Promise<RemoteAgent>
  /** The agent of a session that exists. Nothing is sent until it is used. */
  open(session: string): RemoteAgent
  remove(session: string): Promise<void>
}

/** An agent that works elsewhere. It has the interface of an agent of the library, as far as that makes sense over HTTP. */
export interface RemoteAgent {
  readonly session: string
  readonly history: Promise<readonly Turn[]>
  readonly pending: Promise<readonly PendingApproval[]>
  /** Its state, and with what it runs. */
  readonly info: Promise<SessionInfo>
  /** Works on a prompt. The run goes on if this process ends. `key` makes a repeated call one prompt. */
  run(input: string | readonly InputPart[], options?: RemoteRunOptions & { readonly key?: string }): Run<unknown>
  /** Follows the work that goes on after an answer, or after an interruption, until it ends or waits again. */
  resume(options?: RemoteRunOptions): Run<unknown>
  /** Sends a message to the run in progress. */
  send(message: string | readonly InputPart[]): Promise<void>
  /** Answers a request for approval. */
  reply(id: string, answer: boolean | { readonly approved: boolean; readonly message?: string }): Promise<void>
  /** Stops the run in progress, and the prompts that wait. */
  cancel(): Promise<void>
  fork(at?: number): Promise<RemoteAgent>
}

/** The options of a run on a server. */
export interface RemoteRunOptions {
  /** Cancels the run on the server. */
  readonly signal?: AbortSignal
}

/** Connects to a server of sessions, such as `dragoman serve`. */
export function connect(options: ConnectOptions): Connection {
  const client = createApiClient(options)

  function openAgent(session: string): RemoteAgent {
    const path = `/v1/sessions/${encodeURIComponent(session)}`
    const prompt = (input: string | readonly InputPart[], key: string, steer: boolean) =>
      client.request<{ message: string; after: number }>(
        'POST',
        `${path}/prompts`,
        { input: toUserParts(input), ...(steer && { steer }) },
        { 'idempotency-key': key },
      )
    const cancel = (): Promise<void> =>
      client.request('POST', `${path}/cancel`, undefined, { 'idempotency-key': randomUUID() })
    return {
      session,
      get history() {
        return client.request<{ turns: Turn[] }>('GET', `${path}/history`).then(({ turns }) => turns)
      },
      get pending() {
        return client
          .request<{ approvals: PendingApproval[] }>('GET', `${path}/approvals`)
          .then(({ approvals }) => approvals)
      },
      get info() {
        return client.request<SessionInfo>('GET', path)
      },
      run: (input, { signal, key = randomUUID() } = {}) =>
        startRemoteRun({ client, session, signal, cancel, start: () => prompt(input, key, false) }),
      resume: ({ signal } = {}) =>
        startRemoteRun({
          client,
          session,
          signal,
          cancel,
          start: () => client.request('POST', `${path}/resume`, undefined, { 'idempotency-key': randomUUID() }),
        }),
      async send(message) {
        await prompt(message, randomUUID(), true)
      },
      reply: (id, answer) =>
        client.request(
          'POST',
          `${path}/approvals/${encodeURIComponent(id)}`,
          typeof answer === 'boolean' ? { approved: answer } : answer,
        ),
      cancel,
      fork: async (at) =>
        openAgent((await client.request<SessionInfo>('POST', `${path}/fork`, at === undefined ? {} : { at })).id),
    }
  }

  return {
    async create(settings = {}) {
      // With an id of ours, a request that is repeated creates one session.
      const id = settings.id ?? randomUUID()
      try {
        await client.request('POST', '/v1/sessions', { ...settings, id })
      } catch (error) {
        const isRepeated =
          settings.id === undefined && error instanceof Error && 'code' in error && error.code === 'conflict'
        if (!isRepeated) throw error
      }
      return openAgent(id)
    },
    open: openAgent,
    remove: (session) => client.request('DELETE', `/v1/sessions/${encodeURIComponent(session)}`),
  }
}
