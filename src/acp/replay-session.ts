import type { CallPart } from '../model/turn.ts'
import type { Entry } from '../session/log/entry.ts'
import { readTodos, writeTodosTool } from '../tool/builtin/write-todos.ts'
import { toTodoEntries } from './plan-entries.ts'
import { toContentBlocks, toMediaBlock } from './prompt-content.ts'
import type { ClientCapabilities, SessionUpdate } from './protocol.ts'
import { createFinishedUpdate } from './session-updates.ts'
import type { ToolCallView } from './tool-call-view.ts'

interface ReplayOptions {
  readonly client: ClientCapabilities
  readonly getView: (call: CallPart) => ToolCallView
  /** The tool of a call, which the model may have called by another name. */
  readonly getToolName: (call: CallPart) => string
}

/** The conversation of a session that was loaded, as the client would have seen it. */
export function* replaySession(
  entries: readonly Entry[],
  { client, getView, getToolName }: ReplayOptions,
): Generator<SessionUpdate> {
  const calls = new Map<string, CallPart>()
  for (const entry of entries) {
    const messageId = String(entry.seq)
    switch (entry.kind) {
      case 'user':
        for (const content of toContentBlocks(entry.parts))
          yield { sessionUpdate: 'user_message_chunk', content, messageId }
        break
      case 'turn':
        for (const part of entry.turn.parts) {
          if (part.kind === 'call') {
            calls.set(part.id, part)
            yield { sessionUpdate: 'tool_call', toolCallId: part.id, status: 'pending', ...getView(part) }
          } else if (part.kind === 'media')
            for (const content of toMediaBlock(part)) yield { sessionUpdate: 'agent_message_chunk', content, messageId }
          else if (part.text !== '') {
            const content = { type: 'text', text: part.text } as const
            yield part.kind === 'text'
              ? { sessionUpdate: 'agent_message_chunk', content, messageId }
              : { sessionUpdate: 'agent_thought_chunk', content, messageId: `${messageId}-thought` }
          }
        }
        break
      case 'result': {
        const call = calls.get(entry.result.id)
        if (!call) break
        if (entry.result.status === 'ok' && call.input && getToolName(call) === writeTodosTool.spec.name)
          yield { sessionUpdate: 'plan', entries: toTodoEntries(readTodos(call.input)) }
        yield createFinishedUpdate(call, entry, getView(call)).update
        break
      }
      case 'compact':
        if (client.session?.compaction)
          yield {
            sessionUpdate: 'compaction_update',
            compactionId: messageId,
            status: 'completed',
            summary: [{ type: 'text', text: entry.summary }],
          }
        break
      case 'open':
      case 'note':
      case 'intent':
      case 'subagent':
      case 'ask':
      case 'reply':
      case 'request':
      case 'fault':
      case 'change':
      case 'undo':
      case 'close':
      case 'settings':
        break
      default:
        entry satisfies never
    }
  }
}
