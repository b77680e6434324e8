import type { TurnEvent } from '../../model/event.ts'
import { isObject, type JsonObject, tryParseJson } from '../../model/json.ts'
import { SHELL_TOOL_NAME } from '../../policy/rules/rule.ts'
import type { Tool } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'

/**
 * While a response comes, prepares the commands whose arguments are complete, so that checking and starting them takes less time
 * afterwards. This has no effects, and what is checked in the end is the call itself.
 */
export function createCallPreparer({ toolbox, policy, host, folders }: AgentContext): (event: TurnEvent) => void {
  const calls = new Map<number, { readonly tool: Tool; readonly name: string; text: string }>()

  async function prepare(tool: Tool, name: string, given: JsonObject): Promise<void> {
    const accepted = toolbox.validateInput(tool, given, name)
    if ('problem' in accepted || tool.check?.(accepted.input, folders) !== undefined) return
    const { input } = accepted
    const effects = tool.effects(input, folders)
    await policy.prepare?.({ tool: name, input, effects })
    for (const effect of effects) if (effect.kind === 'exec') await host.processes.prepare?.(effect.folder)
  }

  return (event) => {
    // A response that is requested again begins from the first part.
    if (event.type === 'part-open') calls.delete(event.index)
    if (event.type === 'part-open' && event.kind === 'call' && event.name !== undefined) {
      const found = policy.prepare ? toolbox.find(event.name) : { problem: '' }
      if (!('problem' in found) && found.tool.spec.name === SHELL_TOOL_NAME)
        calls.set(event.index, { tool: found.tool, name: event.name, text: '' })
    }
    const call = event.type === 'part-delta' ? calls.get(event.index) : undefined
    if (event.type !== 'part-delta' || !call) return
    call.text += event.text
    const input =
      event.text.endsWith('}') && call.text.length <= MAX_PREPARED_CHARS ? tryParseJson(call.text) : undefined
    // If it fails, the check itself will tell.
    if (isObject(input)) prepare(call.tool, call.name, input as JsonObject).catch(() => undefined)
  }
}

/** Longer commands are always asked about. */
const MAX_PREPARED_CHARS = 20_000
