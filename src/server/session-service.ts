import { randomBytes } from 'node:crypto'
import { findPendingApprovals, type PendingApproval } from '../agent/library/approvals.ts'
import { defined } from '../model/defined.ts'
import { createTurnKey } from '../model/ids.ts'
import type { JsonObject } from '../model/json.ts'
import type { Entry } from '../session/log/entry.ts'
import type { ListOptions, SessionContents, SessionSummary, Store } from '../session/store/store.ts'
import type { Backend, InboxMessage, Schedule, SessionKey } from './backend.ts'
import { createSessionLog } from './create-session-log.ts'
import { readSessionSettings, type SessionSettings, toSettingsEntry } from './session-settings.ts'
import { getProgress, listMessageIds } from './worker/session-progress.ts'

/** What can be done with the sessions of a backend, whoever asks for it. */
export type SessionService = ReturnType<typeof createSessionService>

interface SessionServiceOptions {
  readonly backend: Backend
  /** The provider whose limits apply to a session. */
  readonly getProvider: (settings: SessionSettings) => string
}

/** `running`: a worker works on it, or will soon. `waiting`: calls wait for approval. */
export type SessionState = 'idle' | 'running' | 'waiting'

/** A session, as the API shows it. */
export interface SessionInfo {
  readonly id: string
  readonly state: SessionState
  readonly created: number
  readonly changed: number
  readonly settings: SessionSettings
  /** The number of the last entry. */
  readonly lastEntry: number
  readonly parent?: JsonObject
}

export function createSessionService({ backend, getProvider }: SessionServiceOptions) {
  const { queue, inbox } = backend
  const getStore = ({ tenant }: { readonly tenant: string }): Store => backend.getStore(tenant)

  /** Workers read the inbox of the session, whichever message the job is named after. */
  async function submitJob({ tenant, session }: SessionKey, message: string, settings: SessionSettings): Promise<void> {
    const id = `${tenant}/${session}/${message}`
    await queue.submit({ id, tenant, session, provider: getProvider(settings), ...defined({ label: settings.label }) })
  }

  async function sendMessage(key: SessionKey, entries: readonly Entry[], message: InboxMessage): Promise<void> {
    await inbox.put(key, message)
    await submitJob(key, message.id, readSessionSettings(entries))
  }

  const read = (key: SessionKey): Promise<SessionContents> => getStore(key).read(key.session)

  async function create(key: SessionKey, settings: SessionSettings): Promise<SessionInfo> {
    const log = await createSessionLog(getStore(key), key.session)
    try {
      const entry = log.append(toSettingsEntry(settings))
      await log.flush()
      return describeSession(key.session, [...log.entries, entry], 'idle')
    } finally {
      await log.close()
    }
  }

  return {
    backend,
    createId: (): string => createTurnKey(randomBytes(20)),
    create,
    read,
    list: (tenant: string, options: ListOptions): Promise<SessionSummary[]> => backend.getStore(tenant).list(options),

    async get(key: SessionKey): Promise<SessionInfo> {
      // In this order: a message is in the log before it leaves the inbox.
      const messages = await inbox.list(key)
      const contents = await read(key)
      return describeSession(key.session, contents.entries, getState(contents, messages))
    },

    /** Removes the session, what waits for it, and its schedules. */
    async remove(key: SessionKey): Promise<void> {
      await getStore(key).remove(key.session)
      for (const { id, session } of await queue.listSchedules(key.tenant))
        if (session === key.session) await queue.removeSchedule(id)
      await inbox.remove(
        key,
        (await inbox.list(key)).map(({ id }) => id),
      )
    },

    /** A session with the entries up to `at`, or all. Calls that wait for approval belong to the original. */
    async fork(key: SessionKey, id: string, at?: number): Promise<SessionInfo> {
      const { entries } = await read(key)
      const last = entries.at(-1)?.seq ?? 0
      const parent = { session: key.session, seq: Math.min(at ?? last, last) }
      const log = await getStore(key).create({ id, folder: '', parent })
      try {
        await log.flush()
        return describeSession(id, log.entries, 'idle')
      } finally {
        await log.close()
      }
    },

    /**
     * Resolves when the message is stored. The id of a message has the time when the session was created, so that a session
     * of the same name that was removed does not matter.
     */
    async prompt(key: SessionKey, input: { parts: readonly JsonObject[]; steer: boolean; key: string }) {
      const { entries } = await read(key)
      const id = createMessageId(entries, input.key)
      const steer = input.steer && ({ steer: true } as const)
      await sendMessage(key, entries, { kind: 'user', id, parts: input.parts, ...steer })
      // A prompt that was sent again may have begun already: who follows it needs it from its first entry on.
      const begun = entries.find((entry) => entry.kind === 'user' && entry.message === id)
      return { message: id, after: begun ? begun.seq - 1 : (entries.at(-1)?.seq ?? 0) }
    },

    async cancel(key: SessionKey, requestKey: string): Promise<void> {
      const { entries } = await read(key)
      await sendMessage(key, entries, { kind: 'cancel', id: createMessageId(entries, `cancel/${requestKey}`) })
    },

    /** Lets a worker look at the session: for one that was written by another program. */
    async resume(key: SessionKey, requestKey: string): Promise<{ after: number; prompt?: string }> {
      const { entries } = await read(key)
      await submitJob(key, createMessageId(entries, `resume/${requestKey}`), readSessionSettings(entries))
      const lastEnd = entries.findLastIndex(({ kind }) => kind === 'close')
      const open = entries.slice(lastEnd + 1).find((entry) => entry.kind === 'user')
      return { after: entries.at(-1)?.seq ?? 0, ...defined({ prompt: open?.message }) }
    },

    async listApprovals(key: SessionKey): Promise<readonly PendingApproval[]> {
      const answered = new Set((await inbox.list(key)).flatMap((one) => (one.kind === 'reply' ? [one.ask] : [])))
      // The inbox comes first: an answer is in the log before it leaves the inbox.
      return findPendingApprovals(await read(key)).filter(({ id }) => !answered.has(id))
    },

    /** Was the question open? The first answer counts. */
    async reply(key: SessionKey, ask: string, answer: JsonObject): Promise<boolean> {
      const contents = await read(key)
      if (!findPendingApprovals(contents).some(({ id }) => id === ask)) return false
      const isAnswered = (await inbox.list(key)).some((one) => one.kind === 'reply' && one.ask === ask)
      const id = createMessageId(contents.entries, `reply/${ask}`)
      await sendMessage(key, contents.entries, { kind: 'reply', id, ask, answer })
      return !isAnswered
    },

    async setSchedule(key: SessionKey, name: string, cron: string, parts: readonly JsonObject[]): Promise<Schedule> {
      const settings = readSessionSettings((await read(key)).entries)
      const schedule: Schedule = {
        id: `${key.tenant}/${name}`,
        tenant: key.tenant,
        session: key.session,
        cron,
        provider: getProvider(settings),
        ...defined({ label: settings.label }),
        message: { kind: 'user', id: '', parts },
      }
      await queue.setSchedule(schedule)
      return schedule
    },

    listSchedules: (tenant: string): Promise<readonly Schedule[]> => queue.listSchedules(tenant),
    removeSchedule: (tenant: string, name: string): Promise<void> => queue.removeSchedule(`${tenant}/${name}`),
  }
}

/** The keys of clients have no slash: no prompt can have the id of an answer, which would then not be stored. */
function createMessageId(entries: readonly Entry[], key: string): string {
  const created = entries.findLast(({ kind }) => kind === 'open')?.at ?? 0
  return `${created.toString(36)}.${key}`
}

/** The state that the log and the messages that no worker has taken yet show. */
export function getState(
  contents: Pick<SessionContents, 'entries' | 'uncertainUpTo'>,
  messages: readonly InboxMessage[] = [],
): SessionState {
  const progress = getProgress(contents)
  const known = listMessageIds(contents.entries)
  const hasReply = messages.some(({ kind }) => kind === 'reply' || kind === 'cancel')
  const hasPrompt = messages.some(({ kind, id }) => kind === 'user' && !known.has(id))
  if (progress === 'waiting') return hasReply ? 'running' : 'waiting'
  return progress === 'idle' && !hasPrompt ? 'idle' : 'running'
}

function describeSession(id: string, entries: readonly Entry[], state: SessionState): SessionInfo {
  const open = entries.findLast((entry) => entry.kind === 'open')
  const last = entries.at(-1)
  return {
    id,
    state,
    created: open?.at ?? 0,
    changed: last?.at ?? 0,
    settings: readSessionSettings(entries),
    lastEntry: last?.seq ?? 0,
    ...(open?.parent && { parent: { ...open.parent } }),
  }
}
