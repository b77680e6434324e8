import { sumTokens, type Usage } from '../../../model/usage.ts'
import { formatTable, formatDollars, formatNumber, formatElapsed } from '../../output/format.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { SessionStats } from './stats.ts'

export function formatSessionStats(stats: SessionStats): string {
  const { usage, lines } = stats
  const [turns, requests, faults] = [stats.turns, stats.requests, stats.faults].map(formatNumber)
  const [all, api, tools] = [stats.duration_ms, stats.api_ms, stats.tool_ms].map(formatElapsed)
  const unpriced = Object.entries(stats.models).flatMap(([name, { cost_usd: cost }]) => (cost === null ? [name] : []))
  const cost = stats.cost_usd === null ? `unknown: no price for ${unpriced.join(', ')}` : formatDollars(stats.cost_usd)
  const head = formatTable([
    ['prompts', formatNumber(stats.prompts)],
    ...(stats.subagents === undefined
      ? []
      : [['subagents', `${formatNumber(stats.subagents)}   (counted in all figures)`]]),
    ['turns', `${turns}   (${requests} requests, ${faults} failed)`],
    ['time', `${all}   (${api} in the API, ${tools} in tools)`],
    ['tokens', `${formatNumber(sumTokens(usage))}   (${formatTokenBuckets(usage)})`],
    ['cost', escapeForTerminal(cost)],
    [
      'lines',
      `model +${lines.model_added} −${lines.model_removed}, user +${lines.person_added} −${lines.person_removed}`,
    ],
  ])
  return [head, formatModelTable(stats), formatToolTable(stats)].filter((part) => part !== '').join('\n')
}

function formatModelTable({ models }: SessionStats): string {
  const rows = Object.entries(models).map(([name, { turns, usage, cost_usd: cost, api_ms: ms }]) => [
    escapeForTerminal(name),
    ...[turns, usage.input, usage.cacheRead, usage.cacheWrite, usage.output, usage.reasoning].map(formatNumber),
    cost === null ? 'unknown' : formatDollars(cost),
    formatElapsed(ms),
  ])
  const head = ['model', 'turns', 'input', 'cache read', 'cache write', 'output', 'reasoning', 'cost', 'time']
  return rows.length === 0 ? '' : formatTable([head, ...rows], [1, 2, 3, 4, 5, 6, 7, 8])
}

function formatToolTable({ tools }: SessionStats): string {
  const rows = Object.entries(tools).map(([name, { count, ok, failed, denied, cancelled, ms, lines }]) => [
    escapeForTerminal(name),
    ...[count, ok, failed, denied, cancelled].map(formatNumber),
    formatElapsed(ms),
    formatLineChange(lines.model_added, lines.model_removed),
    formatLineChange(lines.person_added, lines.person_removed),
  ])
  const head = ['tool', 'calls', 'ok', 'failed', 'denied', 'cancelled', 'time', 'lines (model)', 'lines (user)']
  return rows.length === 0 ? '' : formatTable([head, ...rows], [1, 2, 3, 4, 5, 6, 7, 8])
}

function formatLineChange(added: number, removed: number): string {
  return added + removed === 0 ? '' : `+${added} −${removed}`
}

function formatTokenBuckets({ input, cacheRead, cacheWrite, output, reasoning }: Usage): string {
  const all = { input, 'read from cache': cacheRead, 'written to cache': cacheWrite, output, reasoning }
  return Object.entries(all)
    .map(([name, count]) => `${formatNumber(count)} ${name}`)
    .join(', ')
}
