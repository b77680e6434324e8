import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BlockKind, BlockSummary, ExchangeDetail, GrowthPoint } from '../inspected-exchange.ts'
import { fetchJson } from './api.ts'
import { formatCount, formatShare, formatWhole, plural, toVisibleText } from './format.ts'
import { GrowthChart } from './growth-chart.tsx'
import { KIND_NAMES, KINDS } from './kinds.ts'

const MAX_ROWS = 100

/** What fills the context: the request by part and size, and how it grew over the session. */
export function ContextView({ detail }: { readonly detail: ExchangeDetail }) {
  const chosen = useSignal<BlockKind | undefined>(undefined)
  const points = useSignal<readonly GrowthPoint[]>([])
  const { id, usage } = detail.exchange
  useEffect(() => {
    const stopper = new AbortController()
    void fetchJson<{ points: GrowthPoint[] }>(`exchanges/${id}/growth`, stopper.signal)
      .then((loaded) => (points.value = loaded.points))
      .catch(() => undefined)
    return () => stopper.abort()
  }, [id])
  const blocks = detail.blocks.filter(({ side, kind }) => side === 'request' && kind !== 'settings')
  const total = blocks.reduce((sum, { tokens }) => sum + tokens, 0)
  const kinds = KINDS.map((kind) => ({
    kind,
    tokens: sumTokens(blocks, kind),
    count: blocks.filter((one) => one.kind === kind).length,
  }))
  const present = kinds.filter(({ count }) => count > 0).toSorted((one, other) => other.tokens - one.tokens)
  const rows = blocks
    .filter(({ kind }) => chosen.value === undefined || kind === chosen.value)
    .toSorted((one, other) => other.tokens - one.tokens)
  const largest = Math.max(1, rows[0]?.tokens ?? 1)
  return (
    <div class="pad stack">
      <section>
        <h3>
          {formatWhole(total)} tokens{' '}
          <span class="muted">
            {usage ? 'as counted by the vendor, shared out by length' : 'about four characters each'}
          </span>
        </h3>
        <PrefixStrip blocks={blocks} total={total} cached={usage?.cacheRead ?? 0} />
        <ul class="legend" data-testid="kinds">
          {present.map(({ kind, tokens, count }) => (
            <li key={kind}>
              <button
                class="chip"
                aria-pressed={chosen.value === kind}
                data-kind={kind}
                onClick={() => (chosen.value = chosen.value === kind ? undefined : kind)}
              >
                <span class={`dot kind-${kind}`} />
                {KIND_NAMES[kind]}
                <span class="count">
                  {formatCount(tokens)} · {formatShare(total === 0 ? 0 : tokens / total)}
                </span>
                <span class="muted">{count > 1 ? `×${count}` : ''}</span>
              </button>
            </li>
          ))}
        </ul>
      </section>
      <section>
        <h3>
          Growth over the session <span class="muted">{plural(points.value.length, 'request')}</span>
        </h3>
        <GrowthChart points={points.value} current={id} />
      </section>
      <section>
        <h3>
          Parts by size <span class="muted">{plural(rows.length, 'part')}</span>
        </h3>
        <div class="parts" data-testid="parts">
          {rows.slice(0, MAX_ROWS).map((block) => (
            <div key={block.index} class="part" data-kind={block.kind}>
              <span class={`dot kind-${block.kind}`} />
              <span class="part-kind muted">{KIND_NAMES[block.kind]}</span>
              <span class="part-label mono" title={toVisibleText(block.preview.slice(0, 300))}>
                {toVisibleText(block.label)}
              </span>
              <span class="part-turn muted">{block.turn === undefined ? '' : `turn ${block.turn}`}</span>
              <span class="part-bar">
                <span class={`kind-${block.kind}`} style={{ width: `${(block.tokens / largest) * 100}%` }} />
              </span>
              <span class="num">{formatCount(block.tokens)}</span>
              <span class="num muted">{formatShare(total === 0 ? 0 : block.tokens / total)}</span>
            </div>
          ))}
          {rows.length > MAX_ROWS && <p class="muted">and {plural(rows.length - MAX_ROWS, 'smaller part')}</p>}
        </div>
      </section>
    </div>
  )
}

function sumTokens(blocks: readonly BlockSummary[], kind: BlockKind): number {
  return blocks.reduce((sum, block) => sum + (block.kind === kind ? block.tokens : 0), 0)
}

interface PrefixStripProps {
  readonly blocks: readonly BlockSummary[]
  readonly total: number
  readonly cached: number
}

/** The request in the order in which it is cached; the mark shows how far the cache was read. */
function PrefixStrip({ blocks, total, cached }: PrefixStripProps) {
  if (total === 0) return null
  return (
    <div class="prefix" data-testid="prefix">
      <div class="prefix-strip">
        {mergeNeighbours(blocks).map(({ kind, tokens, label }, at) => (
          <span
            key={at}
            class={`kind-${kind}`}
            style={{ width: `${(tokens / total) * 100}%` }}
            title={`${KIND_NAMES[kind]}: ${toVisibleText(label)}, ${formatWhole(tokens)} tokens`}
          />
        ))}
      </div>
      {cached > 0 && (
        <div class="cached" style={{ width: `${Math.min(100, (cached / total) * 100)}%` }}>
          <span>{formatShare(Math.min(1, cached / total))} from the cache</span>
        </div>
      )}
    </div>
  )
}

/** Parts that are too small to be seen are drawn together. */
function mergeNeighbours(blocks: readonly BlockSummary[]): { kind: BlockKind; tokens: number; label: string }[] {
  const merged: { kind: BlockKind; tokens: number; label: string }[] = []
  const small = blocks.reduce((sum, { tokens }) => sum + tokens, 0) / 400
  for (const { kind, tokens, label } of blocks) {
    const last = merged.at(-1)
    if (last?.kind === kind && (tokens < small || last.tokens < small)) {
      last.tokens += tokens
      last.label = `${last.label}, ${label}`.slice(0, 200)
    } else merged.push({ kind, tokens, label })
  }
  return merged
}
