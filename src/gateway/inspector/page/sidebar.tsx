import { computed } from '@preact/signals'
import type { InspectedExchange } from '../inspected-exchange.ts'
import { formatCost, formatCount, formatShare, formatTime, plural, toVisibleText } from './format.ts'
import { countInput, exchanges, getSessionKey, isSidebarOpen, sessionFilter } from './store.ts'

interface SessionGroup {
  readonly key: string
  readonly client: string
  readonly title: string
  readonly requests: number
  readonly cost: number
  readonly input: number
  readonly cached: number
  readonly faults: number
  readonly last: number
}

/** The sessions of each client, those first that were active last. */
const clients = computed(() => {
  const groups = new Map<string, SessionGroup>()
  for (const exchange of exchanges.value) {
    const key = getSessionKey(exchange)
    groups.set(key, addToGroup(groups.get(key), key, exchange))
  }
  const byClient = new Map<string, SessionGroup[]>()
  for (const group of [...groups.values()].toSorted((one, other) => other.last - one.last))
    byClient.set(group.client, [...(byClient.get(group.client) ?? []), group])
  return [...byClient]
})

function addToGroup(group: SessionGroup | undefined, key: string, exchange: InspectedExchange): SessionGroup {
  const { client, title = '', session = '', cost = 0, usage, fault, started } = exchange
  return {
    key,
    client,
    title: group?.title || title || session,
    requests: (group?.requests ?? 0) + 1,
    cost: (group?.cost ?? 0) + cost,
    input: (group?.input ?? 0) + countInput(exchange),
    cached: (group?.cached ?? 0) + (usage?.cacheRead ?? 0),
    faults: (group?.faults ?? 0) + (fault ? 1 : 0),
    last: started,
  }
}

export function Sidebar() {
  const choose = (key: string | undefined): void => {
    sessionFilter.value = key
    isSidebarOpen.value = false
  }
  return (
    <nav class={`sidebar ${isSidebarOpen.value ? 'open' : ''}`} aria-label="Clients and sessions">
      <button class="session all" aria-current={sessionFilter.value === undefined} onClick={() => choose(undefined)}>
        <span class="title">All requests</span>
        <span class="figures">{formatCount(exchanges.value.length)}</span>
      </button>
      {clients.value.map(([client, sessions]) => (
        <section key={client}>
          <h2 data-testid="client">{toVisibleText(client)}</h2>
          {sessions.map((group) => (
            <button
              key={group.key}
              class="session"
              data-testid="session"
              aria-current={sessionFilter.value === group.key}
              title={toVisibleText(group.title)}
              onClick={() => choose(sessionFilter.value === group.key ? undefined : group.key)}
            >
              <span class="session-head">
                <span class="title">{toVisibleText(group.title) || 'Untitled'}</span>
                <span class="when">{formatTime(group.last).slice(0, 5)}</span>
              </span>
              <span class="figures">
                <span>{plural(group.requests, 'request')}</span>
                {group.cost > 0 && <span>{formatCost(group.cost)}</span>}
                {group.input > 0 && <span>{formatShare(group.cached / group.input)} cached</span>}
                {group.faults > 0 && <span class="bad">{plural(group.faults, 'fault')}</span>}
              </span>
            </button>
          ))}
        </section>
      ))}
    </nav>
  )
}
