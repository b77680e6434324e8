import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { BodySummary, ExchangeDetail, TextSlice } from '../inspected-exchange.ts'
import { fetchJson } from './api.ts'
import { formatCount, toVisibleText } from './format.ts'
import { STAGES, WarningList } from './warning-list.tsx'

/** The bytes of both sides; of a translated exchange all four side by side, with the warnings where they arose. */
export function RawView({ detail }: { readonly detail: ExchangeDetail }) {
  const attempts = Math.max(0, ...detail.bodies.map(({ attempt = 0 }) => attempt))
  const attempt = useSignal(attempts)
  const shown = [...detail.bodies.entries()].filter(
    ([, body]) => body.attempt === undefined || body.attempt === attempt.value,
  )
  const stageless = detail.warnings.filter(({ stage }) => stage === undefined)
  if (detail.bodies.length === 0)
    return (
      <div class="empty small">
        <h2>The bytes were not kept</h2>
        <p class="muted">{detail.remark ?? 'Only the conversation is in the log.'}</p>
      </div>
    )
  return (
    <div class="raw">
      {attempts > 1 && (
        <div class="attempts">
          {Array.from({ length: attempts }, (_, at) => (
            <button
              key={at}
              class="chip"
              aria-pressed={attempt.value === at + 1}
              onClick={() => (attempt.value = at + 1)}
            >
              Attempt {at + 1}
            </button>
          ))}
        </div>
      )}
      {stageless.length > 0 && <WarningList warnings={stageless} />}
      <div class="panes">
        {shown.map(([index, body]) => (
          <BodyPane key={index} detail={detail} body={body} index={index} />
        ))}
      </div>
    </div>
  )
}

const SLICE_CHARS = 64 * 1024
/** Longer bodies are shown as they are: formatting would need all of them. */
const MAX_FORMATTED_CHARS = 400_000

interface BodyPaneProps {
  readonly detail: ExchangeDetail
  readonly body: BodySummary
  readonly index: number
}

function BodyPane({ detail, body, index }: BodyPaneProps) {
  const from = useSignal(0)
  const text = useSignal('')
  const isFormatted = useSignal(false)
  const areHeadersOpen = useSignal(false)
  const { id } = detail.exchange
  const warnings = detail.warnings.filter(({ stage }) => stage === body.side)
  const { chars, side, note, headers, isSame, isCut } = body
  useEffect(() => {
    const stopper = new AbortController()
    const [start, length] = isFormatted.value ? [0, chars] : [from.value, SLICE_CHARS]
    void loadText(id, index, start, length, stopper.signal)
      .then((loaded) => (text.value = isFormatted.value ? formatJson(loaded) : loaded))
      .catch(() => undefined)
    return () => stopper.abort()
  }, [id, index, from.value, isFormatted.value, chars])
  const end = Math.min(chars, from.value + SLICE_CHARS)
  return (
    <section class="pane" data-side={side}>
      <header>
        <h3>{STAGES[side]}</h3>
        <span class="muted mono note" title={toVisibleText(note)}>
          {toVisibleText(note)}
        </span>
      </header>
      {warnings.length > 0 && <WarningList warnings={warnings} />}
      <div class="pane-tools">
        <button
          class="link"
          aria-expanded={areHeadersOpen.value}
          onClick={() => (areHeadersOpen.value = !areHeadersOpen.value)}
        >
          {Object.keys(headers).length} headers
        </button>
        {chars > 0 && chars <= MAX_FORMATTED_CHARS && (
          <button
            class="link"
            aria-pressed={isFormatted.value}
            onClick={() => (isFormatted.value = !isFormatted.value)}
          >
            {isFormatted.value ? 'As sent' : 'Format'}
          </button>
        )}
        {isSame && <span class="badge good">same bytes as the client’s</span>}
        {isCut && <span class="badge warn">cut</span>}
        <span class="space" />
        {chars > SLICE_CHARS && !isFormatted.value ? (
          <span class="pager">
            <button
              class="link"
              disabled={from.value === 0}
              aria-label="Earlier"
              onClick={() => (from.value = Math.max(0, from.value - SLICE_CHARS))}
            >
              ‹
            </button>
            <span class="muted">
              {formatCount(from.value)}–{formatCount(end)} of {formatCount(chars)}
            </span>
            <button class="link" disabled={end >= chars} aria-label="Later" onClick={() => (from.value = end)}>
              ›
            </button>
          </span>
        ) : (
          <span class="muted">{formatCount(chars)} chars</span>
        )}
      </div>
      {areHeadersOpen.value && (
        <dl class="headers">
          {Object.entries(headers).map(([name, value]) => (
            <div key={name}>
              <dt>{toVisibleText(name)}</dt>
              <dd>{toVisibleText(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      <pre class="code bytes" tabIndex={0}>
        {chars === 0 ? <span class="muted">empty</span> : toVisibleText(text.value)}
      </pre>
    </section>
  )
}

async function loadText(id: number, index: number, from: number, length: number, signal: AbortSignal): Promise<string> {
  let text = ''
  while (text.length < length) {
    const path = `exchanges/${id}/bodies/${index}?from=${from + text.length}&length=${length - text.length}`
    const slice = await fetchJson<TextSlice>(path, signal)
    text += slice.text
    if (slice.text === '' || slice.from + slice.text.length >= slice.total) break
  }
  return text
}

/** Each line of a stream by itself. */
function formatJson(text: string): string {
  const whole = tryFormat(text)
  if (whole !== undefined) return whole
  return text.replaceAll(/^(data: ?)?([{[].*)$/gm, (line: string, lead: string | undefined, json: string) => {
    const formatted = tryFormat(json)
    return formatted === undefined ? line : `${lead ?? ''}${formatted}`
  })
}

function tryFormat(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return undefined
  }
}
