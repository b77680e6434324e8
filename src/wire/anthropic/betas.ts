import { filterObjects, isObject, type JsonObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'

type JsonFields = Record<string, unknown>

/** The header that names the betas which a body uses; undefined if there are none. */
export function createBetaHeader(body: JsonObject): { 'anthropic-beta': string } | undefined {
  const places: Readonly<Record<BetaPlace, readonly JsonFields[]>> = {
    body: [body],
    thinking: [objectOrEmpty(body['thinking'])],
    output_config: [objectOrEmpty(body['output_config'])],
    container: [objectOrEmpty(body['container'])],
    edits: filterObjects(objectOrEmpty(body['context_management'])['edits']),
    tools: filterObjects(body['tools']),
    system: filterObjects(body['messages']).filter(({ role }) => role === 'system'),
  }
  const betas = BETAS.filter(({ at, isUsed }) => places[at].some(isUsed)).map(({ beta }) => beta)
  return betas.length === 0 ? undefined : { 'anthropic-beta': betas.join(',') }
}

type BetaPlace = 'body' | 'thinking' | 'output_config' | 'container' | 'edits' | 'tools' | 'system'

interface Beta {
  readonly beta: string
  readonly at: BetaPlace
  readonly isUsed: (fields: JsonFields) => boolean
}

const hasField = (name: string) => (fields: JsonFields) => isObject(fields[name]) || Boolean(fields[name])

const hasType = (pattern: RegExp) => (fields: JsonFields) => pattern.test(stringOrEmpty(fields['type']))

const hasBlock = (pattern: RegExp) => (message: JsonFields) => filterObjects(message['content']).some(hasType(pattern))

const BETAS: readonly Beta[] = [
  { beta: 'cache-diagnosis-2026-04-07', at: 'body', isUsed: hasField('diagnostics') },
  { beta: 'compact-2026-09-04', at: 'body', isUsed: hasField('compaction') },
  { beta: 'context-management-2025-06-27', at: 'body', isUsed: hasField('context_management') },
  { beta: 'compact-2026-01-12', at: 'edits', isUsed: hasType(/^compact_20260112$/) },
  { beta: 'mcp-client-2025-11-20', at: 'body', isUsed: hasField('mcp_servers') },
  { beta: 'message-threads-2026-08-12', at: 'body', isUsed: hasField('thread') },
  { beta: 'server-side-fallback-2026-07-01', at: 'body', isUsed: hasField('fallbacks') },
  { beta: 'fast-mode-2026-02-01', at: 'body', isUsed: ({ speed }) => speed === 'fast' },
  { beta: 'skills-2025-10-02', at: 'container', isUsed: hasField('skills') },
  { beta: 'task-budgets-2026-03-13', at: 'output_config', isUsed: hasField('task_budget') },
  { beta: 'thinking-binding-controls-2026-08-01', at: 'thinking', isUsed: hasField('block_binding') },
  { beta: 'thinking-display-updates-2026-08-18', at: 'thinking', isUsed: ({ display }) => display === 'updates' },
  { beta: 'computer-use-2025-01-24', at: 'tools', isUsed: hasType(/^computer_20250124$/) },
  { beta: 'computer-use-2025-11-24', at: 'tools', isUsed: hasType(/^computer_20251124$/) },
  { beta: 'advisor-tool-2026-03-01', at: 'tools', isUsed: hasType(/^advisor_20260301$/) },
  { beta: 'inline-tools-2026-09-15', at: 'system', isUsed: hasBlock(/^tool_(?:addition|removal)$/) },
  { beta: 'mid-conversation-output-config-2026-07-01', at: 'system', isUsed: hasField('output_config') },
  { beta: 'mid-conversation-system-clear-at-2026-08-21', at: 'system', isUsed: hasField('clear_at') },
]
