import { parseLoggedRequestPrefix, type LoggedRequestPrefix } from '../../../agent/loop/request-log.ts'
import { defined } from '../../../model/defined.ts'
import { type CacheDiagnosis, type Usage, parseUsage } from '../../../model/usage.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { formatTable, formatNumber } from '../../output/format.ts'
import { escapeForTerminal } from '../../output/escape.ts'

/** A request, and why the provider's cache did or did not match. */
export interface RequestCacheReport {
  readonly request: number
  readonly model: string
  readonly bytes: number
  /** As the provider reported them; null if there was no answer. */
  readonly input_tokens: number | null
  readonly cached_tokens: number | null
  readonly cached_share: number | null
  /** Where it differs from the previous request, in order; empty if it only extends it. */
  readonly differs: readonly string[]
  /** Why the cache missed, as the vendor says, with the tokens that it could have read. */
  readonly vendor_reason?: string
  readonly missed_tokens?: number
}

const NO_TOKENS = { input_tokens: null, cached_tokens: null, cached_share: null }

export function analyzeCacheUse(entries: readonly Entry[]): RequestCacheReport[] {
  const lines: RequestCacheReport[] = []
  let last: SentRequestPrefix | undefined
  // The roles of the messages of the last request, one letter each; undefined if the log is damaged.
  let roles: string[] | undefined = []
  let wasCompacted = false
  for (const entry of entries) {
    const open = lines.at(-1)
    if (entry.kind === 'request') {
      const now = { model: entry.model, prefix: parseLoggedRequestPrefix(entry.prefix) }
      const sinceLast = last ? findDifferences(last, now, roles, wasCompacted) : ['the first request']
      lines.push({
        request: lines.length + 1,
        model: entry.model,
        bytes: entry.bytes,
        ...NO_TOKENS,
        differs: entry.summary ? ['a request for a summary'] : sinceLast,
      })
      if (entry.summary) continue
      roles = extendRoles(roles, now.prefix)
      last = now
      wasCompacted = false
    } else if (entry.kind === 'turn' && open?.input_tokens === null)
      lines[lines.length - 1] = { ...withUsage(open, entry.turn.usage), ...toVendorFields(entry.cacheDiagnosis) }
    else if (entry.kind === 'compact') {
      wasCompacted = true
      if (open) lines[lines.length - 1] = withUsage(open, parseUsage(entry.usage))
    }
  }
  return lines
}

export function formatCacheReport(lines: readonly RequestCacheReport[]): string {
  if (lines.length === 0) return 'This session has sent no requests yet.\n'
  const rows = lines.map(({ request, model, bytes, input_tokens: input, cached_tokens: cached, ...line }) => [
    String(request),
    escapeForTerminal(model),
    formatNumber(bytes),
    input === null ? '–' : formatNumber(input),
    cached === null ? '–' : formatNumber(cached),
    line.cached_share === null ? '–' : `${Math.round(line.cached_share * 100)} %`,
    [
      line.differs.length === 0 ? 'extends the previous request' : line.differs.join(', '),
      ...(line.vendor_reason === undefined ? [] : [formatVendorReason(line.vendor_reason, line.missed_tokens)]),
    ].join('; '),
  ])
  const head = ['#', 'model', 'bytes', 'input tokens', 'cached', 'share', 'differs in']
  return formatTable([head, ...rows], [0, 2, 3, 4, 5])
}

function toVendorFields(diagnosis: CacheDiagnosis | undefined) {
  return defined({ vendor_reason: diagnosis?.reason, missed_tokens: diagnosis?.missedTokens })
}

function formatVendorReason(reason: string, missedTokens: number | undefined): string {
  const tokens = missedTokens === undefined ? '' : ` (${formatNumber(missedTokens)} tokens)`
  return `the vendor says: ${escapeForTerminal(reason)}${tokens}`
}

interface SentRequestPrefix {
  readonly model: string
  readonly prefix: LoggedRequestPrefix | undefined
}

function extendRoles(roles: string[] | undefined, prefix: LoggedRequestPrefix | undefined): string[] | undefined {
  if (!prefix || prefix.same > (roles?.length ?? 0)) return undefined
  const kept = roles ?? []
  kept.length = prefix.same
  for (const hash of prefix.fresh) kept.push(hash.charAt(0))
  return kept
}

function findDifferences(
  last: SentRequestPrefix,
  now: SentRequestPrefix,
  roles: readonly string[] | undefined,
  wasCompacted: boolean,
): string[] {
  const model = last.model === now.model ? [] : [`the model (was ${escapeForTerminal(last.model)})`]
  const [before, after] = [last.prefix, now.prefix]
  if (!before || !after || !roles || after.same > roles.length) return [...model, 'unknown: the log is incomplete']
  const changedSections = PREFIX_SECTIONS.filter(([key]) => before[key] !== after[key]).map(([, name]) => name)
  if (after.same === roles.length) return [...model, ...changedSections]
  const roleLabel = ROLE_LABELS[roles[after.same] ?? ''] ?? 'unknown'
  const why = wasCompacted ? ', because the history was summarised' : ''
  return [...model, ...changedSections, `turn ${turnNumberAt(roles, after.same)} (${roleLabel})${why}`]
}

const PREFIX_SECTIONS = [
  ['system', 'the system prompt'],
  ['tools', 'the tools'],
  ['settings', 'the settings'],
] as const

const ROLE_LABELS: Readonly<Record<string, string>> = { u: 'user', a: 'model', r: 'tool results' }

/** The turn of a message: each user message is one; successive messages of the model, or results, are one. */
function turnNumberAt(roles: readonly string[], message: number): number {
  let turns = 0
  for (let at = 0; at <= message; at++) if (roles[at] === 'u' || roles[at] !== roles[at - 1]) turns++
  return turns
}

function withUsage(line: RequestCacheReport, usage: Usage | undefined): RequestCacheReport {
  if (!usage) return line
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  return {
    ...line,
    input_tokens: input,
    cached_tokens: usage.cacheRead,
    cached_share: input === 0 ? null : usage.cacheRead / input,
  }
}
