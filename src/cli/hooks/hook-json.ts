import type { BlockOutcome, HookOutcome, PreToolUseOutcome, ToolUse } from '../../agent/hooks/hooks.ts'
import { defined } from '../../model/defined.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { Tool } from '../../tool/tool.ts'
import type { HookCommandResult } from './run-hook-command.ts'
import { type CommandHook, GEMINI_EVENTS, type HookDialect, type HookEvent } from './hook-definition.ts'

/** The name of an event in a dialect. */
export function toEventName(event: HookEvent, dialect: HookDialect): string {
  if (dialect === 'claude') return event
  return Object.keys(GEMINI_EVENTS).find((name) => GEMINI_EVENTS[name] === event) ?? event
}

/** All names of a tool that a matcher may mean. */
export function listToolNames(tool: Tool): string[] {
  const same = (tool.nameAliases ?? []).flatMap(({ name, parameters }) => (parameters ? [name] : []))
  const names = [tool.spec.name, ...same, ...(tool.ruleAliases ?? []), ...(tool.hookName ? [tool.hookName] : [])]
  const [effect] = tool.origin === 'mcp' ? tool.effects({}, []) : []
  const identity = effect?.kind === 'unknown' ? effect.mcpTool : undefined
  return identity ? [...names, `mcp__${identity.server}__${identity.tool}`] : names
}

/** The tool and its arguments in the words of a dialect. Arguments have their other names, too. */
export function toToolFields({ tool, input, call }: ToolUse, dialect: HookDialect): JsonObject {
  const mcpName = listToolNames(tool).find((name) => name.startsWith('mcp__'))
  const name = dialect === 'claude' ? (mcpName ?? tool.hookName ?? tool.spec.name) : tool.spec.name
  return { tool_name: name, tool_input: addAliases(tool, input), ...(dialect === 'claude' && { tool_use_id: call }) }
}

function addAliases({ aliases = {} }: Tool, input: JsonObject): JsonObject {
  const more = Object.entries(aliases).flatMap(([alias, name]) => {
    const value = Object.hasOwn(input, name) && !Object.hasOwn(input, alias) ? input[name] : undefined
    return value === undefined ? [] : [[alias, value] as const]
  })
  return { ...input, ...Object.fromEntries(more) }
}

/** The arguments that a hook wrote, under our names: of two names of one argument, the one that it changed counts. */
export function fromToolInput(tool: Tool, sent: JsonObject, changed: JsonObject): JsonObject {
  const withAliases = addAliases(tool, sent)
  const input: JsonObject = { ...changed }
  for (const [alias, name] of Object.entries(tool.aliases ?? {})) {
    if (!Object.hasOwn(input, alias) || Object.hasOwn(sent, alias)) continue
    const value = input[alias]
    delete input[alias]
    const isChanged = JSON.stringify(value) !== JSON.stringify(withAliases[alias])
    if (value !== undefined && (isChanged || !Object.hasOwn(input, name))) input[name] = value
  }
  return input
}

type AnyOutcome = PreToolUseOutcome & BlockOutcome & HookOutcome & { readonly updatedInput?: JsonObject }

/** What a hook said by its exit code, its JSON or its text. Throws if it failed. */
export function readHookOutcome(hook: CommandHook, { exitCode, stdout, stderr }: HookCommandResult): AnyOutcome {
  const reason = stderr.trim()
  if (exitCode === 2) return hook.event === 'PreToolUse' ? deny(reason) : toBlock(hook.event, reason)
  if (exitCode !== 0)
    throw new Error(
      `${exitCode === null ? 'it was killed' : `exit code ${exitCode}`}${reason === '' ? '' : `: ${reason}`}`,
    )
  const text = stdout.trim()
  const json = text.startsWith('{') ? tryOrUndefined(() => JSON.parse(text) as Json) : undefined
  if (isObject(json)) return readJson(hook, json)
  const isContext = hook.event === 'UserPromptSubmit' || hook.event === 'SessionStart'
  return isContext && text !== '' ? { additionalContext: text } : {}
}

function readJson(hook: CommandHook, json: JsonObject): AnyOutcome {
  const specific = isObject(json['hookSpecificOutput']) ? json['hookSpecificOutput'] : {}
  const reason = toText(json['reason'])
  const common: HookOutcome = defined({
    systemMessage: toText(json['systemMessage']),
    stopReason:
      json['continue'] === false ? (toText(json['stopReason']) ?? reason ?? 'no reason was given') : undefined,
    additionalContext: toText(specific['additionalContext']),
  })
  const decision = toText(specific['permissionDecision']) ?? toText(json['decision'])
  const why = toText(specific['permissionDecisionReason']) ?? reason
  if (hook.event === 'PreToolUse') {
    const permission = decision === undefined ? undefined : PERMISSIONS[decision]
    const changed = specific['updatedInput'] ?? specific['tool_input']
    const updatedInput = isObject(changed) ? changed : undefined
    return { ...common, ...defined({ permission, reason: why, updatedInput }) }
  }
  const isBlocked = decision === 'block' || decision === 'deny'
  return isBlocked ? { ...common, ...toBlock(hook.event, why ?? '') } : common
}

const PERMISSIONS: Readonly<Record<string, PreToolUseOutcome['permission']>> = {
  allow: 'allow',
  approve: 'allow',
  ask: 'ask',
  deny: 'deny',
  block: 'deny',
}

function deny(reason: string): AnyOutcome {
  return { permission: 'deny', reason: reason === '' ? 'no reason was given' : reason }
}

/** Where nothing can be prevented any more, the reason is shown to the user. */
function toBlock(event: HookEvent, reason: string): AnyOutcome {
  const text = reason === '' ? 'no reason was given' : reason
  const canBlock = event !== 'SessionStart' && event !== 'SessionEnd' && event !== 'Notification'
  return canBlock ? { block: { reason: text } } : { systemMessage: text }
}

function toText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
