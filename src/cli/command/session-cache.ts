import { readPrefix, type Prefix } from '../../agent/request-log.ts'
import { type Usage, usageIn } from '../../model/usage.ts'
import type { Entry } from '../../session/entry.ts'
import { columns, grouped } from '../output/columns.ts'
import { visible } from '../output/visible.ts'

/** A request, and why the vendor's cache did or did not know its beginning. */
export interface CacheLine {
  readonly request: number
  readonly model: string
  readonly bytes: number
  /** What the vendor took in, and how much of it was cached; null where no answer told. */
  readonly input_tokens: number | null
  readonly cached_tokens: number | null
  readonly cached_share: number | null
  /** The places where it differs from the request before, the first one first; empty where it only goes on from it. */
  readonly differs: readonly string[]
}

/** Goes through the requests of a session. */
export function cacheLines(entries: readonly Entry[]): CacheLine[] {
  const lines: CacheLine[] = []
  let last: { model: string; prefix: Prefix | undefined } | undefined
  // Whose the messages of the last request were, one letter each; undefined where a damaged log does not tell.
  let whose: string[] | undefined = []
  let summed = false
  for (const entry of entries) {
    const open = lines.at(-1)
    if (entry.kind === 'request') {
      const now = { model: entry.model, prefix: readPrefix(entry.prefix) }
      lines.push({
        request: lines.length + 1,
        model: entry.model,
        bytes: entry.bytes,
        input_tokens: null,
        cached_tokens: null,
        cached_share: null,
        differs: entry.summary
          ? ['it asked for a summary']
          : last
            ? differences(last, now, whose, summed)
            : ['the first request'],
      })
      if (entry.summary) continue
      whose = grown(whose, now.prefix)
      last = now
      summed = false
    } else if (entry.kind === 'turn' && open?.input_tokens === null)
      lines[lines.length - 1] = answered(open, entry.turn.usage)
    else if (entry.kind === 'compact') {
      summed = true
      if (open) lines[lines.length - 1] = answered(open, usageIn(entry.usage))
    }
  }
  return lines
}

/** The same for a person. */
export function cacheText(lines: readonly CacheLine[]): string {
  if (lines.length === 0) return 'This session has sent no request yet.\n'
  const rows = lines.map(
    ({ request, model, bytes, input_tokens: input, cached_tokens: cached, cached_share: share, differs }) => [
      String(request),
      visible(model),
      grouped(bytes),
      input === null ? '–' : grouped(input),
      cached === null ? '–' : grouped(cached),
      share === null ? '–' : `${Math.round(share * 100)} %`,
      differs.length === 0 ? 'goes on from the one before' : differs.join(', '),
    ],
  )
  return columns([['#', 'model', 'bytes', 'tokens in', 'cached', 'share', 'differs in'], ...rows], [0, 2, 3, 4, 5])
}

interface Known {
  readonly model: string
  readonly prefix: Prefix | undefined
}

function grown(whose: string[] | undefined, prefix: Prefix | undefined): string[] | undefined {
  if (!prefix || prefix.same > (whose?.length ?? 0)) return undefined
  const kept = whose ?? []
  kept.length = prefix.same
  for (const mark of prefix.fresh) kept.push(mark.charAt(0))
  return kept
}

function differences(last: Known, now: Known, whose: readonly string[] | undefined, summed: boolean): string[] {
  const model = last.model === now.model ? [] : [`the model (before: ${visible(last.model)})`]
  const [before, after] = [last.prefix, now.prefix]
  if (!before || !after || !whose || after.same > whose.length) return [...model, 'unknown: the log does not say']
  const heads = HEADS.filter(([key]) => before[key] !== after[key]).map(([, name]) => name)
  if (after.same === whose.length) return [...model, ...heads]
  const owner = WHOSE[whose[after.same] ?? ''] ?? 'somebody’s'
  const why = summed ? ', as the history was summarised' : ''
  return [...model, ...heads, `turn ${turnAt(whose, after.same)} (${owner})${why}`]
}

const HEADS = [
  ['system', 'the system prompt'],
  ['tools', 'the tools'],
  ['settings', 'the settings'],
] as const

const WHOSE: Readonly<Record<string, string>> = { u: 'the person’s', a: 'the model’s', r: 'results' }

/** The number of the turn to which a message belongs: what a person says is one each; a model's messages in a row, and results, are one. */
function turnAt(whose: readonly string[], message: number): number {
  let turns = 0
  for (let at = 0; at <= message; at++) if (whose[at] === 'u' || whose[at] !== whose[at - 1]) turns++
  return turns
}

function answered(line: CacheLine, usage: Usage | undefined): CacheLine {
  if (!usage) return line
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    ...line,
    input_tokens: input,
    cached_tokens: usage.cacheRead,
    cached_share: input === 0 ? null : usage.cacheRead / input,
  }
}
