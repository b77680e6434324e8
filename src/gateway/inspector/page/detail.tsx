import { CallsView } from './calls-view.tsx'
import { ContextView } from './context-view.tsx'
import { ConversationView } from './conversation-view.tsx'
import { DivergenceView } from './divergence-view.tsx'
import { toVisibleText } from './format.ts'
import { Overview } from './overview.tsx'
import { RawView } from './raw-view.tsx'
import { close, detail, detailProblem, exportRecording, isWide, openId, type Tab, tab, TABS } from './store.ts'

/** All about one request, in tabs. */
export function Detail() {
  const shown = detail.value
  return (
    <section class="detail" aria-label="Request" data-testid="detail" data-ready={shown?.exchange.id === openId.value}>
      <div class="detail-head">
        <button class="icon back" aria-label="Back to the list" onClick={close}>
          ←
        </button>
        <h2>
          <span class="muted">#{openId.value}</span> {shown && toVisibleText(shown.exchange.model)}
        </h2>
        <button
          class="icon"
          title="Export this request for dragoman replay"
          aria-label="Export this request"
          onClick={() => openId.value !== undefined && void exportRecording([openId.value])}
        >
          ⤓
        </button>
        <button
          class="icon wide"
          title="Full width (f)"
          aria-label="Full width"
          aria-pressed={isWide.value}
          onClick={() => (isWide.value = !isWide.value)}
        >
          ⤢
        </button>
        <button class="icon shut" title="Close (Esc)" aria-label="Close" onClick={close}>
          ×
        </button>
      </div>
      <div class="tabs" role="tablist">
        {TABS.map((one, at) => (
          <button
            key={one}
            role="tab"
            aria-selected={tab.value === one}
            title={`${one} (${at + 1})`}
            onClick={() => (tab.value = one)}
          >
            {one}
            <TabMark tab={one} />
          </button>
        ))}
      </div>
      <div class="view" role="tabpanel" data-view={tab.value}>
        {shown ? (
          <View />
        ) : (
          <p class="muted pad">{detailProblem.value === '' ? 'Loading…' : toVisibleText(detailProblem.value)}</p>
        )}
      </div>
    </section>
  )
}

function TabMark({ tab: one }: { readonly tab: Tab }) {
  const shown = detail.value
  if (!shown) return null
  if (one === 'Calls' && shown.calls.length > 0) {
    const isBad = shown.calls.some(({ state }) => state === 'rejected')
    return <span class={`count ${isBad ? 'bad' : ''}`}>{shown.calls.length}</span>
  }
  if (one === 'Divergence' && shown.divergence && !shown.divergence.isExtended) return <span class="mark warn" />
  return one === 'Overview' && shown.exchange.fault ? <span class="mark bad" /> : null
}

function View() {
  const shown = detail.value
  if (!shown) return null
  const key = shown.exchange.id
  switch (tab.value) {
    case 'Overview':
      return <Overview detail={shown} />
    case 'Context':
      return <ContextView key={key} detail={shown} />
    case 'Divergence':
      return <DivergenceView detail={shown} />
    case 'Conversation':
      return <ConversationView key={key} detail={shown} />
    case 'Calls':
      return <CallsView detail={shown} />
    case 'Raw':
      return <RawView key={key} detail={shown} />
    default:
      return tab.value satisfies never
  }
}
