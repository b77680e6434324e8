import type { McpServerConfig } from '../../../../tool/mcp/client/server-config.ts'
import type { Config, RuleConfig } from '../../../config/schema.ts'
import { abbreviateHome } from '../../../paths/folders.ts'
import { splitCopies, type ImportPlan } from './import-plan.ts'

/** What would be imported, what stays, and what is not supported, as lines. */
export function describePlan(plan: ImportPlan, current: Config): string[] {
  const { title, files, servers, config, userRules, projectRules, inPlace, unsupported } = plan
  const { fresh, existing } = splitCopies(plan)
  const isConfigured = (name: string) => Object.hasOwn(current.mcpServers ?? {}, name)
  const kept = Object.keys(config).filter((key) => Object.hasOwn(current, key) && key !== 'models')
  return [
    `${title} (${files.map(abbreviateHome).join(', ') || 'no settings files'})`,
    ...section(
      'MCP servers',
      Object.entries(servers)
        .filter(([name]) => !isConfigured(name))
        .map(describeServer),
    ),
    ...section('permissions, everywhere', describeRules(userRules)),
    ...section('permissions, in this project', describeRules(projectRules)),
    ...section(
      'settings',
      Object.entries(config)
        .filter(([key]) => !kept.includes(key))
        .map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
    ),
    ...section(
      'commands, copied',
      fresh.map(({ from, to }) => `${abbreviateHome(from)} → ${abbreviateHome(to)}`),
    ),
    ...section('used where they are', inPlace.map(abbreviateHome)),
    ...section('already there, left unchanged', [
      ...Object.keys(servers).filter(isConfigured),
      ...kept,
      ...existing.map(({ to }) => abbreviateHome(to)),
    ]),
    ...section('not supported', unsupported.map(abbreviateHome)),
  ]
}

function section(title: string, rows: readonly string[]): string[] {
  return rows.length === 0 ? [] : [`  ${title}:`, ...rows.map((row) => `    ${row}`)]
}

function describeRules(rules: Readonly<Record<string, readonly RuleConfig[] | undefined>>): string[] {
  return Object.entries(rules).flatMap(([verdict, list = []]) =>
    list.map(
      (rule) => `${verdict === 'secretFiles' ? 'secret file' : verdict} ${typeof rule === 'string' ? rule : rule.rule}`,
    ),
  )
}

/** Variables and headers are named, without their values. */
function describeServer([name, { command, args = [], url, httpUrl, env = {}, headers = {} }]: [
  string,
  McpServerConfig,
]): string {
  const what = command === undefined ? (httpUrl ?? url ?? '') : [command, ...args].join(' ')
  const more = [...Object.keys(env), ...Object.keys(headers)]
  return `${name}: ${what}${more.length === 0 ? '' : ` (with ${more.join(', ')})`}`
}
