import type { ExchangeDetail, InspectedCall } from '../inspected-exchange.ts'
import { formatCount, formatMs, toVisibleText } from './format.ts'
import { WarningList } from './warning-list.tsx'

const STATES: Readonly<Record<InspectedCall['state'], string>> = {
  ok: 'ok',
  error: 'error',
  denied: 'denied',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
  open: 'no result yet',
  rejected: 'rejected',
}

/** The calls of the response, with arguments and results. */
export function CallsView({ detail }: { readonly detail: ExchangeDetail }) {
  const { calls } = detail
  const warnings = detail.warnings.filter(({ code }) => /call|unfinished|not-json|not-object/.test(code))
  return (
    <div class="pad stack">
      {warnings.length > 0 && <WarningList warnings={warnings} />}
      {calls.length === 0 && (
        <div class="empty small">
          <h2>No calls</h2>
          <p class="muted">The model answered without calling a tool.</p>
        </div>
      )}
      {calls.map((call) => (
        <article
          key={call.id}
          class={`call ${call.state === 'rejected' ? 'bad' : call.isRescued ? 'warn' : ''}`}
          data-testid="call"
        >
          <header>
            <strong class="mono">{toVisibleText(call.name) || 'no name'}</strong>
            <span class={`badge ${getTone(call)}`}>{STATES[call.state]}</span>
            {call.isRescued && <span class="badge warn">rescued from text</span>}
            <span class="space" />
            {call.durationMs !== undefined && (
              <span class="muted" title={call.isUpperLimit ? 'The time until the next request' : 'As measured'}>
                {call.isUpperLimit ? '≤ ' : ''}
                {formatMs(call.durationMs)}
              </span>
            )}
          </header>
          {call.flaw !== undefined && <p class="bad-text">{toVisibleText(call.flaw)}</p>}
          <h4>Arguments</h4>
          <pre class="code">{toVisibleText(call.input) || '{}'}</pre>
          {call.result !== undefined && (
            <>
              <h4>
                Result <span class="muted">{formatCount(call.resultChars)} characters</span>
              </h4>
              <pre class="code">{toVisibleText(call.result)}</pre>
            </>
          )}
        </article>
      ))}
    </div>
  )
}

function getTone({ state }: InspectedCall): string {
  if (state === 'ok') return 'good'
  return state === 'open' ? '' : state === 'rejected' || state === 'error' ? 'bad' : 'warn'
}
