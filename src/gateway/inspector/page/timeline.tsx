import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { InspectedExchange } from '../inspected-exchange.ts'
import { formatCost, formatCount, formatMs, formatShare, formatTime, toVisibleText } from './format.ts'
import {
  countInput,
  exchanges,
  filter,
  getCacheShare,
  isCacheMiss,
  open,
  openId,
  searchText,
  selectedId,
  shown,
  source,
} from './store.ts'
import { TokenBar } from './token-bar.tsx'

const ROW_HEIGHT = 40
/** Rows above and below the visible ones. */
const EXTRA_ROWS = 8

const COLUMNS = ['#', 'Time', 'Client', 'Model', 'Duration', 'Tokens', 'In', 'Out', 'Cache', 'Cost', 'Notes'] as const

/** The requests, newest first. Only the rows that are visible exist. */
export function Timeline() {
  const place = useRef<HTMLDivElement>(null)
  const view = useSignal({ top: 0, height: 600 })
  const rows = shown.value
  const measure = (): void => {
    const element = place.current
    if (element) view.value = { top: element.scrollTop, height: element.clientHeight }
  }
  useEffect(() => {
    const observer = new ResizeObserver(measure)
    if (place.current) observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  const selectedAt = rows.findIndex(({ id }) => id === selectedId.value)
  useEffect(() => scrollIntoView(place.current, selectedAt), [selectedId.value])
  const from = Math.max(0, Math.floor(view.value.top / ROW_HEIGHT) - EXTRA_ROWS)
  const count = Math.ceil(view.value.height / ROW_HEIGHT) + 2 * EXTRA_ROWS
  const visibleRows = rows.slice(from, from + count)
  const longest = Math.max(1, ...rows.map(({ totalMs = 0 }) => totalMs))
  const largest = Math.max(1, ...rows.map((one) => countInput(one) + countOutput(one)))
  return (
    <div class="timeline">
      <div class="row head" role="row">
        {COLUMNS.map((name) =>
          name === 'Duration' ? (
            <span key={name} class="cell duration">
              <span class="bar-name">Duration</span>
              <span class="value first">First byte</span>
              <span class="value">End</span>
            </span>
          ) : (
            <span key={name} class={`cell ${toClass(name)}`}>
              {name}
            </span>
          ),
        )}
      </div>
      {rows.length === 0 ? (
        <EmptyList />
      ) : (
        <div class="rows" ref={place} onScroll={measure} role="listbox" tabIndex={0} aria-label="Requests">
          <div class="space" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
            {visibleRows.map((exchange, at) => (
              <Row key={exchange.id} exchange={exchange} top={(from + at) * ROW_HEIGHT} {...{ longest, largest }} />
            ))}
          </div>
        </div>
      )}
    </div>
  )
}

function toClass(name: string): string {
  return name === '#' ? 'number' : name.toLowerCase()
}

function countOutput({ usage }: InspectedExchange): number {
  return usage ? usage.output + usage.reasoning : 0
}

function scrollIntoView(element: HTMLElement | null, row: number): void {
  if (!element || row < 0) return
  const [top, bottom] = [row * ROW_HEIGHT, (row + 1) * ROW_HEIGHT]
  if (top < element.scrollTop) element.scrollTop = top
  else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
}

interface RowProps {
  readonly exchange: InspectedExchange
  readonly top: number
  readonly longest: number
  readonly largest: number
}

function Row({ exchange, top, longest, largest }: RowProps) {
  const { id, started, client, model, provider, upstreamModel, usage, cost, totalMs, firstByteMs, purpose } = exchange
  const share = getCacheShare(exchange)
  const target = provider === undefined ? '' : `${provider}/${upstreamModel ?? ''}`
  return (
    <div
      class={`row ${getState(exchange)}`}
      style={{ transform: `translateY(${top}px)` }}
      role="option"
      data-id={id}
      aria-selected={selectedId.value === id}
      aria-current={openId.value === id}
      onClick={() => open(id)}
    >
      <span class="cell number">{id}</span>
      <span class="cell time">{formatTime(started)}</span>
      <span class="cell client">{toVisibleText(client)}</span>
      <span class="cell model" title={toVisibleText(target === '' ? model : `${model} → ${target}`)}>
        <span class="name">{toVisibleText(model) || '–'}</span>
        {target !== '' && upstreamModel !== model && <span class="target">→ {toVisibleText(target)}</span>}
        {purpose !== undefined && <span class="target">{purpose}</span>}
      </span>
      <span class="cell duration" title={`first byte ${formatMs(firstByteMs) || '–'}, end ${formatMs(totalMs) || '–'}`}>
        <DurationBar firstByteMs={firstByteMs} totalMs={totalMs} longest={longest} />
        <span class="value first">{formatMs(firstByteMs)}</span>
        <span class="value">{totalMs === undefined ? '…' : formatMs(totalMs)}</span>
      </span>
      <span class="cell tokens">{usage && <TokenBar usage={usage} largest={largest} />}</span>
      <span class="cell in">{usage && formatCount(countInput(exchange))}</span>
      <span class="cell out">{usage && formatCount(countOutput(exchange))}</span>
      <span class={`cell cache ${isCacheMiss(exchange) ? 'low' : ''}`}>{formatShare(share)}</span>
      <span class="cell cost">{formatCost(cost)}</span>
      <span class="cell notes">
        <Notes exchange={exchange} />
      </span>
    </div>
  )
}

function getState({ fault, status = 200, totalMs }: InspectedExchange): string {
  if (fault || status >= 400) return 'failed'
  return totalMs === undefined ? 'running' : ''
}

function Notes({ exchange }: { readonly exchange: InspectedExchange }) {
  const { fault, status, warnings, attempts = 1, mode } = exchange
  const isFailed = fault !== undefined || (status !== undefined && status >= 400)
  return (
    <>
      {isFailed && (
        <span class="badge bad" title={toVisibleText(fault?.message ?? '')}>
          {status !== undefined && status >= 400 ? status : (fault?.kind ?? 'fault')}
        </span>
      )}
      {attempts > 1 && (
        <span class="badge warn" title={`${attempts} requests to models`}>
          ↻{attempts - 1}
        </span>
      )}
      {warnings.length > 0 && (
        <span class="badge warn" title={toVisibleText(warnings.map(({ code }) => code).join(', '))}>
          ⚠{warnings.length}
        </span>
      )}
      {mode === 'translated' && (
        <span class="badge" title="Translated between two APIs">
          ⇄
        </span>
      )}
    </>
  )
}

interface DurationBarProps {
  readonly firstByteMs: number | undefined
  readonly totalMs: number | undefined
  readonly longest: number
}

function DurationBar({ firstByteMs = 0, totalMs, longest }: DurationBarProps) {
  if (totalMs === undefined) return <span class="bar running" />
  const share = (ms: number): string => `${Math.max(0.5, (ms / longest) * 100)}%`
  return (
    <span class="bar">
      <span class="wait" style={{ width: share(firstByteMs) }} />
      <span class="stream" style={{ width: share(Math.max(0, totalMs - firstByteMs)) }} />
    </span>
  )
}

function EmptyList() {
  if (exchanges.value.length > 0)
    return (
      <div class="empty">
        <h2>No request matches</h2>
        <p class="muted">
          {searchText.value === '' ? '' : `Nothing contains “${toVisibleText(searchText.value)}”. `}
          {filter.value === 'All' ? '' : `The filter is “${filter.value}”. `}Esc clears the search.
        </p>
      </div>
    )
  return (
    <div class="empty">
      <h2>No requests yet</h2>
      <p class="muted">
        {source.value.kind === 'gateway'
          ? 'They appear here as soon as a client sends one to the gateway.'
          : 'This session has sent no requests yet.'}
      </p>
      {source.value.kind === 'gateway' && <pre>dragoman gateway run claude</pre>}
    </div>
  )
}
