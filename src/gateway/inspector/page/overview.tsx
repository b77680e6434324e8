import type { ComponentChildren } from 'preact'
import type { ExchangeDetail } from '../inspected-exchange.ts'
import { formatBytes, formatCost, formatMs, formatShare, formatTime, formatWhole, toVisibleText } from './format.ts'
import { getCacheShare } from './store.ts'
import { BUCKETS, TokenBar } from './token-bar.tsx'
import { WarningList } from './warning-list.tsx'

/** The figures of a request. */
export function Overview({ detail }: { readonly detail: ExchangeDetail }) {
  const { exchange, warnings, remark } = detail
  const { usage, fault } = exchange
  const total = usage ? BUCKETS.reduce((sum, [bucket]) => sum + usage[bucket], 0) : 0
  return (
    <div class="pad stack">
      {fault && (
        <div class="callout bad" data-testid="fault">
          <strong>Fault: {toVisibleText(fault.kind)}</strong>
          <p>{toVisibleText(fault.message)}</p>
        </div>
      )}
      <dl class="facts">
        <Fact name="Client">{toVisibleText(exchange.client)}</Fact>
        <Fact name="Session">{toVisibleText(exchange.title ?? '') || toVisibleText(exchange.session ?? '–')}</Fact>
        <Fact name="Asked for">{toVisibleText(exchange.model) || '–'}</Fact>
        <Fact name="Answered by">
          {exchange.provider === undefined
            ? '–'
            : toVisibleText(`${exchange.provider}/${exchange.upstreamModel ?? ''}`)}
        </Fact>
        <Fact name="API">
          {toVisibleText([exchange.wire, exchange.upstreamWire].filter(isOther).join(' → ')) || '–'}
        </Fact>
        <Fact name="Mode">{exchange.mode ?? '–'}</Fact>
        <Fact name="Status">{exchange.status ?? (exchange.totalMs === undefined ? 'running' : '–')}</Fact>
        <Fact name="Started">{formatTime(exchange.started)}</Fact>
        <Fact name="First byte">{formatMs(exchange.firstByteMs) || '–'}</Fact>
        <Fact name="To the end">{formatMs(exchange.totalMs) || '…'}</Fact>
        <Fact name="Attempts">{exchange.attempts ?? '–'}</Fact>
        <Fact name="Cost">{formatCost(exchange.cost) || 'unknown'}</Fact>
        <Fact name="Sent">{formatBytes(exchange.requestBytes)}</Fact>
        <Fact name="Received">{formatBytes(exchange.responseBytes)}</Fact>
      </dl>
      {usage && (
        <section>
          <h3>
            Tokens <span class="muted">{formatShare(getCacheShare(exchange))} of the input from the cache</span>
          </h3>
          <TokenBar usage={usage} largest={Math.max(1, total)} />
          <table class="buckets" data-testid="buckets">
            <tbody>
              {BUCKETS.map(([bucket, name]) => (
                <tr key={bucket}>
                  <td>
                    <span class={`dot bucket ${bucket}`} />
                    {name}
                  </td>
                  <td class="num">{formatWhole(usage[bucket])}</td>
                  <td class="num muted">{total > 0 ? formatShare(usage[bucket] / total) : ''}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {warnings.length > 0 && (
        <section>
          <h3>Warnings</h3>
          <WarningList warnings={warnings} />
        </section>
      )}
      {remark !== undefined && <p class="muted">{remark}</p>}
    </div>
  )
}

function isOther(wire: string | undefined, at: number, all: readonly (string | undefined)[]): boolean {
  return wire !== undefined && all.indexOf(wire) === at
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
