import { sanitizeForModel } from '../../policy/text/sanitize-for-model.ts'
import { joinTextParts } from '../../model/text.ts'
import type { JsonObject } from '../../model/json.ts'
import type { CallPart } from '../../model/turn.ts'
import { resumeSession } from '../../session/session.ts'
import { memoryStore } from '../../session/store/memory-store.ts'
import type { AgentContext } from '../agent-context.ts'
import { approveCall } from './approve-call.ts'
import { executeWithSandboxRetry } from './sandbox-retry.ts'

/**
 * Runs a tool that no model has called, such as the shell command in a custom command, under the same policy and with the
 * same questions. Its output becomes part of a prompt, so the call itself is not part of the conversation.
 */
export async function runSingleCall(
  agent: AgentContext,
  name: string,
  input: JsonObject,
  signal: AbortSignal,
): Promise<{ readonly output: string } | { readonly problem: string }> {
  const id = agent.createId()
  const session = resumeSession(await memoryStore().create({ id, folder: agent.folders[0] ?? '.' }))
  const separate: AgentContext = { ...agent, session }
  const call: CallPart = { kind: 'call', id, name, raw: JSON.stringify(input), input }
  const onEvent = (): void => undefined
  const approval = await approveCall(separate, call, signal, { onEvent, onValidated: () => Promise.resolve() })
  if ('isPending' in approval) return { problem: 'it was not approved' }
  if ('result' in approval) return { problem: joinTextParts(approval.result.content) }
  const executing = { status: 'executing', call, ...approval.valid, ...approval.terms } as const
  const started = agent.clock.now()
  const { result } = await executeWithSandboxRetry(separate, { ...executing, started }, signal, onEvent, onEvent)
  const shown = typeof result.display === 'string' ? result.display : joinTextParts(result.content)
  return signal.aborted ? { problem: 'it was stopped' } : { output: sanitizeForModel(shown) }
}
