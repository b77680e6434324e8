import type { BlockOutcome, HookContext, HookOutcome, Hooks, PreToolUseOutcome } from '../../agent/hooks/hooks.ts'
import { mergeOutcomes } from '../../agent/hooks/merge-outcomes.ts'
import type { StdioProcesses } from '../../host/process/stdio-process.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { formatResultText } from '../../model/text.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import { type CommandHook, type HookDialect, type HookEvent, matchesAny } from './hook-definition.ts'
import { fromToolInput, listToolNames, readHookOutcome, toEventName, toToolFields } from './hook-json.ts'
import { runHookCommand } from './run-hook-command.ts'

export interface CommandHookOptions {
  readonly folder: string
  readonly processes: Pick<StdioProcesses, 'open'>
  /** The log of the session, if it is saved. */
  readonly transcript: string | undefined
  readonly getMode: () => ApprovalMode
  /** Are the hooks of the project still those that the user trusted? */
  readonly isProjectTrusted: () => boolean
  /** What they have written while they ran stays trusted. */
  readonly keepOutputs: () => void
}

type AnyOutcome = PreToolUseOutcome & BlockOutcome & HookOutcome

/** Hooks that are commands. All that match run side by side; one that fails is reported, and changes nothing. */
export function createCommandHooks(all: readonly CommandHook[], options: CommandHookOptions): Hooks {
  const { folder, processes } = options
  const has = (event: HookEvent): boolean => all.some((hook) => hook.event === event)
  /** How many hooks of the project run now: what they write is no change by others. */
  let runningCount = 0

  async function run(
    event: HookEvent,
    context: HookContext,
    names: readonly string[],
    createFields: (dialect: HookDialect) => JsonObject,
  ): Promise<AnyOutcome> {
    const matching = all.filter((hook) => hook.event === event && matchesAny(hook, names))
    const chosen = matching.filter(
      (hook, at) => matching.findIndex((one) => one.command === hook.command && one.dialect === hook.dialect) === at,
    )
    if (runningCount > 0) options.keepOutputs()
    const isChanged = chosen.some(({ isOfProject }) => isOfProject) && !options.isProjectTrusted()
    const allowed = isChanged ? chosen.filter(({ isOfProject }) => !isOfProject) : chosen
    const outcomes = await Promise.all(
      allowed.map(async (hook): Promise<AnyOutcome> => {
        const work = async (): Promise<AnyOutcome> => {
          const input = createInput(hook, context, createFields(hook.dialect))
          if (hook.isOfProject) runningCount++
          try {
            return readHookOutcome(hook, await runHookCommand(processes, hook, input, folder, context.signal))
          } finally {
            if (hook.isOfProject) {
              options.keepOutputs()
              runningCount--
            }
          }
        }
        try {
          if (!hook.isAsync) return await work()
          void work().catch(() => undefined)
          return {}
        } catch (error) {
          if (context.signal.aborted) return {}
          return {
            systemMessage: `The hook “${hook.command}” (${hook.source}, ${event}) failed: ${describeFailure(hook, error)}`,
          }
        }
      }),
    )
    return mergeOutcomes(isChanged ? [...outcomes, describeChange(event)] : outcomes)
  }

  function createInput(
    { event, dialect }: CommandHook,
    { session, subagent }: HookContext,
    fields: JsonObject,
  ): JsonObject {
    return {
      session_id: session,
      transcript_path: options.transcript ?? '',
      cwd: folder,
      ...(dialect === 'claude'
        ? { permission_mode: MODE_NAMES[options.getMode()] }
        : { timestamp: new Date().toISOString() }),
      hook_event_name: toEventName(event, dialect),
      ...(subagent !== undefined && { agent_type: subagent }),
      ...fields,
    }
  }

  return {
    ...(has('PreToolUse') && {
      async preToolUse(event) {
        const names = listToolNames(event.tool)
        const outcome = await run('PreToolUse', event, names, (dialect) => toToolFields(event, dialect))
        const { updatedInput } = outcome
        return updatedInput
          ? { ...outcome, updatedInput: fromToolInput(event.tool, event.input, updatedInput) }
          : outcome
      },
    }),
    ...(has('PostToolUse') && {
      postToolUse: (event) =>
        run('PostToolUse', event, listToolNames(event.tool), (dialect) => {
          const output = formatResultText(event.result)
          const error = event.result.error?.message
          const response: Json =
            dialect === 'gemini'
              ? { llmContent: output, returnDisplay: output, ...(error !== undefined && { error: { message: error } }) }
              : { output, is_error: event.result.status !== 'ok' }
          return { ...toToolFields(event, dialect), tool_response: response }
        }),
    }),
    ...(has('UserPromptSubmit') && {
      userPromptSubmit: (event) => run('UserPromptSubmit', event, [], () => ({ prompt: event.prompt })),
    }),
    ...(has('SessionStart') && {
      sessionStart: (event) => run('SessionStart', event, [event.source], () => ({ source: event.source })),
    }),
    ...(has('SessionEnd') && {
      sessionEnd: (event) => run('SessionEnd', event, [event.reason], () => ({ reason: event.reason })),
    }),
    ...((has('Stop') || has('SubagentStop')) && {
      stop: (event) =>
        run(event.subagent === undefined ? 'Stop' : 'SubagentStop', event, [event.subagent ?? ''], (dialect) => ({
          stop_hook_active: event.isActive,
          [dialect === 'gemini' ? 'prompt_response' : 'last_assistant_message']: event.text,
        })),
    }),
    ...(has('PreCompact') && {
      preCompact: (event) =>
        run('PreCompact', event, [event.trigger], () => ({
          trigger: event.trigger,
          custom_instructions: event.instructions ?? '',
        })),
    }),
    ...(has('Notification') && {
      notification: (event) =>
        run('Notification', event, [event.kind, 'ToolPermission'], (dialect) => ({
          message: event.message,
          notification_type: dialect === 'gemini' ? 'ToolPermission' : event.kind,
        })),
    }),
  }
}

function describeFailure({ isTrusted }: CommandHook, error: unknown): string {
  const message = getErrorMessage(error)
  if (isTrusted || !/read-only file system|EROFS/i.test(message)) return message
  return `${message}. Hooks of a project run in the sandbox, where files of agents such as .claude are read-only; "trustHooks" in your settings lets them run outside (docs/hooks.md).`
}

/** Hooks that changed do not run. What they guarded is asked about, so that no change takes a guard away silently. */
function describeChange(event: HookEvent): AnyOutcome {
  const reason =
    'The hooks of this project have changed since you trusted it, so they do not run. Review them with dragoman trust.'
  return event === 'PreToolUse' ? { permission: 'ask', reason, systemMessage: reason } : { systemMessage: reason }
}

const MODE_NAMES: Readonly<Record<ApprovalMode, string>> = {
  default: 'default',
  auto_edit: 'acceptEdits',
  yolo: 'bypassPermissions',
  plan: 'plan',
}
