import type { ExchangeDetail } from '../inspected-exchange.ts'
import { formatCost, formatCount, formatShare, formatWhole, toVisibleText } from './format.ts'
import { open } from './store.ts'

/** Where the request stops to repeat the previous one, what changed, and what that cost. */
export function DivergenceView({ detail }: { readonly detail: ExchangeDetail }) {
  const { divergence, exchange } = detail
  if (!divergence)
    return (
      <div class="empty small">
        <h2>Nothing to compare with</h2>
        <p class="muted">This is the first request of its conversation.</p>
      </div>
    )
  const { isExtended, place, sameChars, previousChars, sameBlocks, diff, previous, missedTokens = 0 } = divergence
  const share = previousChars === 0 ? 1 : sameChars / previousChars
  return (
    <div class="pad stack" data-testid="divergence">
      <div class={`callout ${isExtended ? 'good' : 'warn'}`}>
        <strong>
          {isExtended
            ? 'The request extends the previous one'
            : `The prefix breaks at ${toVisibleText(place ?? 'its start')}`}
        </strong>
        <p>
          {isExtended
            ? 'All of the previous request is at the beginning of this one, so the vendor can read it from its cache.'
            : 'From there on, the vendor reads nothing from its cache.'}{' '}
          Compared with{' '}
          <button class="link" onClick={() => open(previous)}>
            #{previous}
          </button>
          .
        </p>
      </div>
      <div class="strip" title={`${formatShare(share)} of the previous request is the same`}>
        <span class="same" style={{ width: `${share * 100}%` }} />
        <span class="broken" style={{ width: `${(1 - share) * 100}%` }} />
      </div>
      <dl class="facts">
        <div>
          <dt>The same</dt>
          <dd>
            {formatShare(share)} · {formatWhole(sameBlocks)} parts
          </dd>
        </div>
        <div>
          <dt>Read from the cache</dt>
          <dd>{exchange.usage ? `${formatCount(exchange.usage.cacheRead)} tokens` : 'unknown'}</dd>
        </div>
        <div>
          <dt>Missed</dt>
          <dd data-testid="missed">
            {divergence.isEstimate && 'about '}
            {formatCount(missedTokens)} tokens
          </dd>
        </div>
        <div>
          <dt>The miss cost</dt>
          <dd data-testid="missed-cost">{formatCost(divergence.missedCost) || 'unknown'}</dd>
        </div>
        {divergence.vendorReason !== undefined && (
          <div>
            <dt>The vendor says</dt>
            <dd>{toVisibleText(divergence.vendorReason)}</dd>
          </div>
        )}
      </dl>
      {diff.length > 0 && (
        <section>
          <h3>What changed</h3>
          <pre class="code diff">
            {diff.map(({ kind, text }, at) =>
              kind === 'same' ? (
                <span key={at}>{toVisibleText(text)}</span>
              ) : kind === 'added' ? (
                <ins key={at}>{toVisibleText(text)}</ins>
              ) : (
                <del key={at}>{toVisibleText(text)}</del>
              ),
            )}
          </pre>
        </section>
      )}
    </div>
  )
}
