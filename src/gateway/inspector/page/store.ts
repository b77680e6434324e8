import { batch, computed, signal } from '@preact/signals'
import type { ExchangeDetail, InspectedExchange } from '../inspected-exchange.ts'
import { ApiError, fetchJson, followExchanges, setToken, takeToken } from './api.ts'

/** Why the page shows nothing, if it does not. */
export type Access = 'loading' | 'open' | 'no-token'

export const access = signal<Access>('loading')
export const accessMessage = signal('')
export const isLive = signal(false)
export const source = signal<{ readonly kind: 'gateway' | 'session'; readonly title: string }>({
  kind: 'gateway',
  title: '',
})
export const exchanges = signal<readonly InspectedExchange[]>([])

export const selectedId = signal<number | undefined>(undefined)
export const openId = signal<number | undefined>(undefined)
export const detail = signal<ExchangeDetail | undefined>(undefined)
export const detailProblem = signal('')
export const isWide = signal(false)

export const TABS = ['Overview', 'Context', 'Divergence', 'Conversation', 'Calls', 'Raw'] as const
export type Tab = (typeof TABS)[number]
export const tab = signal<Tab>('Overview')

export const FILTERS = ['All', 'Faults', 'Warnings', 'Cache misses', 'Retried', 'Translated'] as const
export type Filter = (typeof FILTERS)[number]
export const filter = signal<Filter>('All')
export const sessionFilter = signal<string | undefined>(undefined)
export const searchText = signal('')
/** The exchanges whose bodies contain the text that is searched for. */
const foundIds = signal<ReadonlySet<number>>(new Set())
export const isHelpOpen = signal(false)
export const isSidebarOpen = signal(false)
export const toast = signal('')

export function getSessionKey({ client, session }: InspectedExchange): string {
  return `${client}\n${session ?? ''}`
}

export function countInput({ usage }: InspectedExchange): number {
  return usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0
}

export function getCacheShare(exchange: InspectedExchange): number | undefined {
  const input = countInput(exchange)
  return exchange.usage && input > 0 ? exchange.usage.cacheRead / input : undefined
}

/** Requests that read less than half from the cache of what the request before them in the session had sent. */
const missedIds = computed(() => {
  const sent = new Map<string, number>()
  const missed = new Set<number>()
  for (const exchange of exchanges.value) {
    const { usage, purpose, id } = exchange
    if (!usage || purpose !== undefined) continue
    const key = getSessionKey(exchange)
    const expected = Math.min(sent.get(key) ?? 0, countInput(exchange))
    if (expected >= MIN_CACHED_TOKENS && usage.cacheRead < expected / 2) missed.add(id)
    sent.set(key, countInput(exchange))
  }
  return missed
})

/** Vendors cache no shorter prompts. */
const MIN_CACHED_TOKENS = 1024

export function isCacheMiss({ id }: InspectedExchange): boolean {
  return missedIds.value.has(id)
}

const PASSES: Readonly<Record<Filter, (exchange: InspectedExchange) => boolean>> = {
  All: () => true,
  Faults: ({ fault, status = 200 }) => fault !== undefined || status >= 400,
  Warnings: ({ warnings }) => warnings.length > 0,
  'Cache misses': isCacheMiss,
  Retried: ({ attempts = 1 }) => attempts > 1,
  Translated: ({ mode }) => mode === 'translated',
}

function matchesText(exchange: InspectedExchange, text: string): boolean {
  const { client, model, provider, upstreamModel, title, session, path, status, fault, warnings, mode, id } = exchange
  const fields = [client, model, provider, upstreamModel, title, session, path, status, mode, `#${id}`, fault?.message]
  const all = [...fields, ...warnings.flatMap(({ code, message }) => [code, message])]
  return all.some((field) =>
    String(field ?? '')
      .toLowerCase()
      .includes(text),
  )
}

/** Newest first. */
export const shown = computed(() => {
  const text = searchText.value.trim().toLowerCase()
  const session = sessionFilter.value
  const passes = PASSES[filter.value]
  return exchanges.value
    .filter(
      (one) =>
        (session === undefined || getSessionKey(one) === session) &&
        passes(one) &&
        (text === '' || matchesText(one, text) || foundIds.value.has(one.id)),
    )
    .toReversed()
})

export const counts = computed(() =>
  Object.fromEntries(FILTERS.map((one) => [one, exchanges.value.filter((exchange) => PASSES[one](exchange)).length])),
)

let searchTimer: ReturnType<typeof setTimeout> | undefined

export function setSearch(text: string): void {
  searchText.value = text
  clearTimeout(searchTimer)
  foundIds.value = new Set()
  if (text.trim().length < 2) return
  searchTimer = setTimeout(() => void searchBodies(text), 200)
}

async function searchBodies(text: string): Promise<void> {
  try {
    const { ids } = await fetchJson<{ ids: number[] }>(`search?q=${encodeURIComponent(text.trim())}`)
    if (searchText.value === text) foundIds.value = new Set(ids)
  } catch {
    // The list is filtered by what it shows.
  }
}

export async function start(): Promise<void> {
  takeToken()
  addEventListener('hashchange', () => {
    if (location.hash.length > 1) {
      takeToken()
      void load().then(follow)
    }
  })
  if (await load()) void follow()
}

export async function signIn(token: string): Promise<void> {
  setToken(token)
  if (await load()) void follow()
}

async function load(): Promise<boolean> {
  try {
    const list = await fetchJson<{ kind: 'gateway' | 'session'; title: string; exchanges: InspectedExchange[] }>(
      'exchanges',
    )
    batch(() => {
      source.value = { kind: list.kind, title: list.title }
      exchanges.value = list.exchanges
      selectedId.value ??= list.exchanges.at(-1)?.id
      access.value = 'open'
      accessMessage.value = ''
    })
    return true
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status === 401
    if (isRefused || access.value === 'loading') access.value = 'no-token'
    accessMessage.value = error instanceof Error ? error.message : String(error)
    return false
  }
}

let isFollowing = false

/** Tries again for as long as the page is open: a gateway may be started again on the same port. */
async function follow(): Promise<void> {
  if (isFollowing) return
  isFollowing = true
  while (access.value === 'open') {
    try {
      await followExchanges(() => (isLive.value = true), addExchange)
    } catch {
      // The wait below is the answer.
    }
    isLive.value = false
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await load()
  }
  isFollowing = false
}

function addExchange(exchange: InspectedExchange): void {
  const list = exchanges.value
  const at = list.findLastIndex(({ id }) => id === exchange.id)
  batch(() => {
    exchanges.value = at < 0 ? [...list, exchange].slice(-MAX_SHOWN) : list.with(at, exchange)
    selectedId.value ??= exchange.id
  })
  // A later request of the session has the results of its calls.
  const opened = detail.value?.exchange
  if (opened && (opened.id === exchange.id || getSessionKey(opened) === getSessionKey(exchange)))
    void loadDetail(opened.id)
}

/** As many as the server keeps, at most. */
const MAX_SHOWN = 5000

export function open(id: number): void {
  batch(() => {
    selectedId.value = id
    openId.value = id
    if (detail.value?.exchange.id !== id) detail.value = undefined
  })
  void loadDetail(id)
}

export function close(): void {
  batch(() => {
    openId.value = undefined
    detail.value = undefined
    isWide.value = false
  })
}

async function loadDetail(id: number): Promise<void> {
  try {
    const loaded = await fetchJson<ExchangeDetail>(`exchanges/${id}`)
    if (openId.value === id) {
      batch(() => {
        detail.value = loaded
        detailProblem.value = ''
      })
    }
  } catch (error) {
    if (openId.value === id) detailProblem.value = error instanceof Error ? error.message : String(error)
  }
}

/** Selects the exchange that stands so many rows below; opens it if one is open. */
export function move(rows: number): void {
  const list = shown.value
  const at = list.findIndex(({ id }) => id === selectedId.value)
  const next = list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + rows))]
  if (!next) return
  if (openId.value === undefined) selectedId.value = next.id
  else open(next.id)
}

/** Saves a recording of these exchanges as a file. */
export async function exportRecording(ids: readonly number[]): Promise<void> {
  try {
    const { recording } = await fetchJson<{ recording: string }>(`export?ids=${ids.join(',')}`)
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([recording], { type: 'application/json' }))
    link.download = `dragoman-recording-${ids[0] ?? 0}.json`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
    showToast(`Saved ${link.download}. Replay it with: dragoman replay ${link.download}`)
  } catch (error) {
    showToast(error instanceof Error ? error.message : String(error))
  }
}

let toastTimer: ReturnType<typeof setTimeout> | undefined

function showToast(text: string): void {
  toast.value = text
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => (toast.value = ''), 6000)
}
