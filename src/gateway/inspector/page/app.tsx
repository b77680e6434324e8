import { Detail } from './detail.tsx'
import { formatCost, formatCount, formatShare, plural, toVisibleText } from './format.ts'
import { KEYS } from './keyboard.ts'
import { Sidebar } from './sidebar.tsx'
import {
  access,
  counts,
  countInput,
  exchanges,
  exportRecording,
  type Filter,
  filter,
  FILTERS,
  isHelpOpen,
  isLive,
  isSidebarOpen,
  isWide,
  openId,
  accessMessage,
  searchText,
  setSearch,
  shown,
  signIn,
  source,
  toast,
} from './store.ts'
import { switchTheme, theme } from './theme.ts'
import { Timeline } from './timeline.tsx'

export function App() {
  if (access.value === 'loading') return <div class="notice">Loading…</div>
  if (access.value === 'no-token') return <SignIn />
  const isOpen = openId.value !== undefined
  return (
    <div class={`app ${isOpen ? 'has-detail' : ''} ${isWide.value ? 'is-wide' : ''}`}>
      <Header />
      <div class="body">
        <Sidebar />
        <main class="list">
          <Filters />
          <Timeline />
        </main>
        {isOpen && <Detail />}
      </div>
      {isHelpOpen.value && <Help />}
      {toast.value !== '' && (
        <div class="toast" role="status">
          {toVisibleText(toast.value)}
        </div>
      )}
    </div>
  )
}

function Header() {
  return (
    <header class="top">
      <button
        class="icon menu"
        aria-label="Sessions"
        aria-expanded={isSidebarOpen.value}
        onClick={() => (isSidebarOpen.value = !isSidebarOpen.value)}
      >
        ☰
      </button>
      <h1>
        <span class="logo" aria-hidden="true" />
        Dragoman<span class="where">{toVisibleText(source.value.title)}</span>
      </h1>
      <Totals />
      <input
        id="search"
        type="search"
        placeholder="Search requests and bodies"
        aria-label="Search"
        autocomplete="off"
        spellcheck={false}
        value={searchText.value}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <span
        class={`live ${isLive.value ? 'on' : ''}`}
        title={isLive.value ? 'New requests appear at once' : 'Not connected'}
      >
        <span class="live-text">{isLive.value ? 'Live' : 'Offline'}</span>
      </span>
      <button
        class="icon"
        title={`Theme: ${theme.value} (t)`}
        aria-label={`Theme: ${theme.value}`}
        onClick={switchTheme}
      >
        {theme.value === 'dark' ? '☾' : theme.value === 'light' ? '☀' : '◐'}
      </button>
      <button class="icon" title="Keyboard (?)" aria-label="Help" onClick={() => (isHelpOpen.value = true)}>
        ?
      </button>
    </header>
  )
}

function Totals() {
  const list = exchanges.value
  const cost = list.reduce((sum, one) => sum + (one.cost ?? 0), 0)
  const input = list.reduce((sum, one) => sum + countInput(one), 0)
  const cached = list.reduce((sum, one) => sum + (one.usage?.cacheRead ?? 0), 0)
  const output = list.reduce((sum, { usage }) => sum + (usage ? usage.output + usage.reasoning : 0), 0)
  return (
    <dl class="totals" data-testid="totals">
      <div>
        <dt>Requests</dt>
        <dd>{formatCount(list.length)}</dd>
      </div>
      <div>
        <dt>Tokens in</dt>
        <dd>{formatCount(input)}</dd>
      </div>
      <div>
        <dt>Out</dt>
        <dd>{formatCount(output)}</dd>
      </div>
      <div>
        <dt>Cached</dt>
        <dd>{formatShare(input === 0 ? undefined : cached / input) || '–'}</dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd>{formatCost(cost)}</dd>
      </div>
    </dl>
  )
}

function Filters() {
  return (
    <div class="filters" role="toolbar" aria-label="Filter">
      {FILTERS.map((one: Filter) => (
        <button
          key={one}
          class="chip"
          aria-pressed={filter.value === one}
          disabled={one !== 'All' && counts.value[one] === 0 && filter.value !== one}
          onClick={() => (filter.value = filter.value === one ? 'All' : one)}
        >
          {one}
          <span class="count">{formatCount(counts.value[one])}</span>
        </button>
      ))}
      <span class="space" />
      <span class="muted shown-count">{plural(shown.value.length, 'request')}</span>
      <button
        class="chip"
        data-testid="export"
        title="A file without secrets, for dragoman replay (e)"
        disabled={shown.value.length === 0}
        onClick={() => void exportRecording(shown.value.map(({ id }) => id).toReversed())}
      >
        Export
      </button>
    </div>
  )
}

function SignIn() {
  return (
    <form
      class="notice"
      onSubmit={(event) => {
        event.preventDefault()
        const field = event.currentTarget.elements.namedItem('token')
        if (field instanceof HTMLInputElement && field.value.trim() !== '') void signIn(field.value.trim())
      }}
    >
      <span class="logo" aria-hidden="true" />
      <h2>The token is needed</h2>
      <p>
        Open the whole address that the command printed: the token is at its end, after “#”. Or paste the token here.
      </p>
      <input name="token" type="password" autocomplete="off" aria-label="Token" placeholder="Token" />
      <button class="primary">Open</button>
      {accessMessage.value !== '' && <p class="muted">{toVisibleText(accessMessage.value)}</p>}
    </form>
  )
}

function Help() {
  return (
    <div class="overlay" onClick={() => (isHelpOpen.value = false)}>
      <div class="dialog" role="dialog" aria-label="Keyboard" onClick={(event) => event.stopPropagation()}>
        <h2>Keyboard</h2>
        <dl class="keys">
          {KEYS.map(([keys, about]) => (
            <div key={keys}>
              <dt>
                {keys.split(/\s{2,}/).map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </dt>
              <dd>{about}</dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  )
}
