import { isObject, type Json } from '../../model/json.ts'

/** The events that hooks can have here, under the names of Claude Code. */
export const HOOK_EVENTS = [
  'PreToolUse',
  'PostToolUse',
  'UserPromptSubmit',
  'SessionStart',
  'SessionEnd',
  'Stop',
  'SubagentStop',
  'PreCompact',
  'Notification',
] as const

export type HookEvent = (typeof HOOK_EVENTS)[number]

/** The names that Gemini CLI has for them. */
export const GEMINI_EVENTS: Readonly<Record<string, HookEvent>> = {
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  BeforeAgent: 'UserPromptSubmit',
  AfterAgent: 'Stop',
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  PreCompress: 'PreCompact',
  Notification: 'Notification',
}

/** Whose names and shapes the JSON of a hook has. */
export type HookDialect = 'claude' | 'gemini'

/** A command that runs at an event. */
export interface CommandHook {
  readonly event: HookEvent
  readonly dialect: HookDialect
  readonly command: string
  /** A pattern of tool names, or of what else the event has; absent: always. */
  readonly matcher?: string
  readonly timeoutMs: number
  /** Nobody waits for it, and its answer counts nothing. */
  readonly isAsync?: true
  /** The file, and whether it is one of the project: such a hook runs in the sandbox. */
  readonly source: string
  readonly isOfProject: boolean
  /** It runs outside the sandbox. */
  readonly isTrusted: boolean
}

export interface HookSource {
  readonly source: string
  readonly dialect: HookDialect
  readonly isOfProject: boolean
  readonly isTrusted: boolean
}

/** The hooks of settings, and what of them is not supported. */
export interface ParsedHooks {
  readonly hooks: readonly CommandHook[]
  readonly problems: readonly string[]
}

const DEFAULT_TIMEOUT_MS = 60_000
const MAX_TIMEOUT_MS = 600_000

/** Reads the field `hooks` of settings: `{ event: [{ matcher, hooks: [{ type, command, timeout }] }] }`. */
export function parseHooks(value: Json | undefined, from: HookSource): ParsedHooks {
  if (value === undefined) return { hooks: [], problems: [] }
  if (!isObject(value)) return { hooks: [], problems: ['“hooks” is not an object'] }
  const hooks: CommandHook[] = []
  const problems: string[] = []
  for (const [name, groups] of Object.entries(value)) {
    // Older settings of Gemini CLI have options among the events.
    if (from.dialect === 'gemini' && (name === 'enabled' || name === 'disabled' || name === 'notifications')) continue
    const event = findEvent(name, from.dialect)
    if (!event) {
      problems.push(`the event ${name} does not exist here`)
      continue
    }
    for (const group of Array.isArray(groups) ? groups : [])
      for (const item of isObject(group) && Array.isArray(group['hooks']) ? group['hooks'] : []) {
        const hook = parseHook(item, isObject(group) ? group['matcher'] : undefined, event, from)
        if ('problem' in hook) problems.push(`${name}: ${hook.problem}`)
        else hooks.push(hook)
      }
  }
  return { hooks, problems }
}

function findEvent(name: string, dialect: HookDialect): HookEvent | undefined {
  if (dialect === 'gemini') return Object.hasOwn(GEMINI_EVENTS, name) ? GEMINI_EVENTS[name] : undefined
  return HOOK_EVENTS.find((event) => event === name)
}

function parseHook(
  item: Json,
  matcher: Json | undefined,
  event: HookEvent,
  from: HookSource,
): CommandHook | { readonly problem: string } {
  if (!isObject(item)) return { problem: 'a hook is not an object' }
  const { type = 'command', command, timeout } = item
  if (type !== 'command') return { problem: `hooks of the type ${JSON.stringify(type)} do not exist here` }
  if (typeof command !== 'string' || command.trim() === '') return { problem: 'a hook has no command' }
  const pattern = typeof matcher === 'string' && matcher !== '' && matcher !== '*' ? matcher : undefined
  if (pattern !== undefined && !isPattern(pattern)) return { problem: `the matcher “${pattern}” is not a pattern` }
  // Gemini CLI counts in milliseconds.
  const ms = typeof timeout === 'number' && timeout > 0 ? timeout * (from.dialect === 'gemini' ? 1 : 1000) : undefined
  return {
    ...from,
    event,
    command,
    ...(pattern !== undefined && { matcher: pattern }),
    timeoutMs: Math.min(ms ?? DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS),
    ...(item['async'] === true && { isAsync: true }),
  }
}

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Does a hook apply to one of these names? Claude Code means the whole name, Gemini CLI a part of it. */
export function matchesAny({ matcher, dialect }: CommandHook, names: readonly string[]): boolean {
  if (matcher === undefined) return true
  const pattern = new RegExp(dialect === 'claude' ? `^(?:${matcher})$` : matcher, 'u')
  return names.some((name) => pattern.test(name))
}
