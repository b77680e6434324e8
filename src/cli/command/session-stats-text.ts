import type { Usage } from '../../model/usage.ts'
import { columns, dollars, grouped, span } from '../output/columns.ts'
import { visible } from '../output/visible.ts'
import type { SessionStats } from './session-stats.ts'

/** The statistics of a session for a person. */
export function statsText(stats: SessionStats): string {
  const { usage, lines } = stats
  const unpriced = Object.entries(stats.models).flatMap(([name, { cost_usd: cost }]) => (cost === null ? [name] : []))
  const cost = stats.cost_usd === null ? `unknown: no price for ${unpriced.join(', ')}` : dollars(stats.cost_usd)
  const head = columns([
    ['prompts', grouped(stats.prompts)],
    ['turns', `${grouped(stats.turns)}   (${grouped(stats.requests)} requests, ${grouped(stats.faults)} failed)`],
    ['time', `${span(stats.duration_ms)}   (${span(stats.api_ms)} in the API, ${span(stats.tool_ms)} in tools)`],
    ['tokens', `${grouped(total(usage))}   (${kinds(usage)})`],
    ['cost', visible(cost)],
    [
      'lines',
      `model +${lines.model_added} −${lines.model_removed}, person +${lines.person_added} −${lines.person_removed}`,
    ],
  ])
  return [head, modelLines(stats), toolLines(stats)].filter((part) => part !== '').join('\n')
}

function modelLines({ models }: SessionStats): string {
  const rows = Object.entries(models).map(([name, { turns, usage, cost_usd: cost, api_ms: ms }]) => [
    visible(name),
    grouped(turns),
    grouped(usage.input),
    grouped(usage.cacheRead),
    grouped(usage.cacheWrite),
    grouped(usage.output),
    grouped(usage.reasoning),
    cost === null ? 'unknown' : dollars(cost),
    span(ms),
  ])
  const head = ['model', 'turns', 'input', 'cache read', 'cache write', 'output', 'reasoning', 'cost', 'time']
  return rows.length === 0 ? '' : columns([head, ...rows], [1, 2, 3, 4, 5, 6, 7, 8])
}

function toolLines({ tools }: SessionStats): string {
  const rows = Object.entries(tools).map(([name, { count, ok, failed, denied, cancelled, ms, lines }]) => [
    visible(name),
    ...[count, ok, failed, denied, cancelled].map(grouped),
    span(ms),
    changed(lines.model_added, lines.model_removed),
    changed(lines.person_added, lines.person_removed),
  ])
  const head = ['tool', 'calls', 'ok', 'failed', 'denied', 'cancelled', 'time', 'lines (model)', 'lines (person)']
  return rows.length === 0 ? '' : columns([head, ...rows], [1, 2, 3, 4, 5, 6, 7, 8])
}

function changed(added: number, removed: number): string {
  return added + removed === 0 ? '' : `+${added} −${removed}`
}

function total({ input, cacheRead, cacheWrite, output, reasoning }: Usage): number {
  return input + cacheRead + cacheWrite + output + reasoning
}

function kinds({ input, cacheRead, cacheWrite, output, reasoning }: Usage): string {
  const all = { input, 'read from cache': cacheRead, 'written to cache': cacheWrite, output, reasoning }
  return Object.entries(all)
    .map(([name, count]) => `${grouped(count)} ${name}`)
    .join(', ')
}
