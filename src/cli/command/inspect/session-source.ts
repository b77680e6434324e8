import type { InspectedExchange } from '../../../gateway/inspector/inspected-exchange.ts'
import type { InspectorSource } from '../../../gateway/inspector/inspector-source.ts'
import type { ModelOrigin } from '../../../model/turn.ts'
import type { Usage } from '../../../model/usage.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { isEntry } from '../../../session/log/entry-schema.ts'
import type { Store } from '../../../session/store/store.ts'
import { tryParseJson } from '../../../model/json.ts'
import { version } from '../../version.ts'
import { listSessionRequests, type SessionRequest } from './session-requests.ts'
import { readSessionContent, readSessionResults } from './session-content.ts'

export interface SessionSourceOptions {
  readonly folder: string
  /** Only this one; otherwise the latest ones of the folder. */
  readonly session: string | undefined
  readonly price: (origin: ModelOrigin, usage: Usage) => number | undefined
  readonly redact: (text: string) => string
}

interface LoadedSession {
  readonly id: string
  title: string
  changed: number
  entries: Entry[]
}

interface Item {
  readonly exchange: InspectedExchange
  readonly request: SessionRequest
  readonly session: LoadedSession
}

/** The requests of our own sessions, from their logs. */
export async function createSessionSource(
  store: Pick<Store, 'list' | 'read'>,
  { folder, session, price, redact }: SessionSourceOptions,
): Promise<InspectorSource & { close(): void }> {
  const sessions = new Map<string, LoadedSession>()
  const ids = new Map<string, number>()
  const listeners = new Set<(exchange: InspectedExchange) => void>()
  let items = new Map<number, Item>()

  /** Reads what is new in the logs. */
  async function update(): Promise<void> {
    const all = await store.list()
    const wanted = all.filter(({ id }) => session === undefined || id === session).slice(0, MAX_SESSIONS)
    let hasChanged = false
    for (const { id, title, changed } of wanted.toReversed()) {
      const loaded = sessions.get(id) ?? { id, title, changed: -1, entries: [] }
      if (loaded.changed === changed) continue
      const { entries } = await store.read(id, { after: loaded.entries.at(-1)?.seq ?? 0 })
      loaded.entries = [...loaded.entries, ...entries.map((entry) => redactEntry(entry, redact))]
      loaded.changed = changed
      loaded.title = redact(title)
      sessions.set(id, loaded)
      hasChanged = true
    }
    if (hasChanged) items = createItems()
  }

  function createItems(): Map<number, Item> {
    const found = [...sessions.values()]
      .flatMap((one) => listSessionRequests(one.entries).map((request) => ({ request, session: one })))
      .toSorted((one, other) => one.request.entry.at - other.request.entry.at)
    return new Map(
      found.map(({ request, session: own }) => {
        const key = `${own.id} ${request.entry.seq}`
        const id = ids.get(key) ?? ids.size + 1
        ids.set(key, id)
        return [id, { request, session: own, exchange: toExchange(id, request, own) }]
      }),
    )
  }

  function toExchange(id: number, request: SessionRequest, { id: own, title }: LoadedSession): InspectedExchange {
    const { origin, usage } = request.exchange
    const cost = origin && usage ? price(origin, usage) : undefined
    const { origin: _origin, ...fields } = request.exchange
    return { ...fields, id, client: 'dragoman', session: own, title, ...(cost !== undefined && { cost }) }
  }

  async function poll(): Promise<void> {
    const before = items
    await update().catch(() => undefined)
    if (before === items) return
    for (const [id, { exchange }] of items)
      if (JSON.stringify(before.get(id)?.exchange) !== JSON.stringify(exchange))
        for (const listener of listeners) listener(exchange)
  }

  await update()
  let isPolling = false
  const timer = setInterval(() => {
    if (isPolling || listeners.size === 0) return
    isPolling = true
    void poll().finally(() => (isPolling = false))
  }, POLL_MS)
  const read = <T>(id: number, get: (item: Item) => T): T | undefined => {
    const item = items.get(id)
    return item && get(item)
  }

  return {
    kind: 'session',
    title: session ?? folder,
    list: () => [...items.values()].map(({ exchange }) => exchange),
    get: (id) => items.get(id)?.exchange,
    readContent: (id) => read(id, ({ session: { entries }, request }) => readSessionContent(entries, request)),
    readBodies: () => [],
    readResults: (id) =>
      read(id, ({ session: { entries }, request }) => readSessionResults(entries, request)) ?? new Map(),
    readVendorReason: (id) => read(id, ({ request }) => request.vendorReason),
    search(text) {
      const wanted = text.toLowerCase()
      const matches = ({ session: { entries }, request: { from, to } }: Item): boolean =>
        JSON.stringify(entries.slice(from, to)).toLowerCase().includes(wanted)
      return [...items].filter(([, item]) => matches(item)).map(([id]) => id)
    },
    price: (exchange, usage) =>
      read(
        exchange.id,
        ({
          request: {
            exchange: { origin },
          },
        }) => origin && price(origin, usage),
      ),
    exportRecording(chosen) {
      const names = new Set(chosen.map((id) => items.get(id)?.session.id))
      const exported = [...sessions.values()].filter(({ id }) => names.has(id))
      return Promise.resolve(exportSessions(exported, folder))
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => clearInterval(timer),
  }
}

const MAX_SESSIONS = 20
const POLL_MS = 1000

function redactEntry(entry: Entry, redact: (text: string) => string): Entry {
  const text = JSON.stringify(entry)
  const redacted = redact(text)
  if (redacted === text) return entry
  const parsed = tryParseJson(redacted)
  return isEntry(parsed) ? parsed : entry
}

/** A recording from the logs: it has no bytes, so a replay compares nothing, but a live run can continue from any response. */
function exportSessions(sessions: readonly LoadedSession[], folder: string): string {
  const lines = sessions.flatMap(({ id, entries }) => [
    { kind: 'session', id, folder },
    ...entries.flatMap((entry) => [
      ...(entry.kind === 'request' && !entry.summary ? [{ kind: 'ask', key: `x${entry.seq}`, unrecorded: true }] : []),
      { kind: 'entry', entry },
    ]),
  ])
  return `${JSON.stringify({ recording: 1, lines: [{ kind: 'start', dragoman: version }, ...lines], exchanges: [] })}\n`
}
