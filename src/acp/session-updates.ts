import type { AgentContext } from '../agent/agent-context.ts'
import type { CallState } from '../agent/calls/call-state.ts'
import type { RunEvent } from '../agent/loop/run-event.ts'
import type { TurnEvent } from '../model/event.ts'
import { defined } from '../model/defined.ts'
import type { CallPart } from '../model/turn.ts'
import type { Entry } from '../session/log/entry.ts'
import { readTodos, writeTodosTool } from '../tool/builtin/write-todos.ts'
import { toPlanEntries, toTodoEntries } from './plan-entries.ts'
import { toMediaBlock } from './prompt-content.ts'
import type { ClientCapabilities, SessionUpdate, ToolCallContent } from './protocol.ts'
import {
  describeToolCall,
  findChangedLine,
  toCodeBlock,
  toQuestionContent,
  toRawOutput,
  toResultContent,
  toText,
  type ToolCallView,
} from './tool-call-view.ts'

interface SessionUpdatesOptions {
  readonly send: (update: SessionUpdate) => void
  readonly agent: () => AgentContext
  readonly client: ClientCapabilities
}

export type SessionUpdates = ReturnType<typeof createSessionUpdates>

/** Tells the client what happens in a session. */
export function createSessionUpdates({ send, agent, client }: SessionUpdatesOptions) {
  const views = new Map<string, ToolCallView>()
  /** The terminals of the client that run commands, by call, and those whose call is not known yet, by command. */
  const terminalByCall = new Map<string, string>()
  const waitingTerminals = new Map<string, string>()
  const executingCommands = new Map<string, string>()
  let messageId = ''
  /** How much of each part was sent; a part that came in one piece has no deltas. */
  let sentLengths = new Map<number, number>()
  /** The first half of a character, until its second half arrives. */
  let heldText = ''
  let compactionId: string | undefined

  function getView(call: CallPart): ToolCallView {
    const known = views.get(call.id)
    if (known) return known
    const { toolbox, folders } = agent()
    const view = describeToolCall(call, toolbox, folders)
    views.set(call.id, view)
    return view
  }

  function sendText(kind: 'text' | 'reasoning', text: string): void {
    if (text === '') return
    const content = { type: 'text', text } as const
    send(
      kind === 'text'
        ? { sessionUpdate: 'agent_message_chunk', content, messageId }
        : { sessionUpdate: 'agent_thought_chunk', content, messageId: `${messageId}-thought` },
    )
  }

  function onTurnEvent(event: TurnEvent): void {
    switch (event.type) {
      case 'open':
        messageId = agent().createId()
        // What was shown cannot be taken back.
        if (event.anew && sentLengths.size > 0) notify('The response was interrupted. It is requested again.')
        sentLengths = new Map()
        heldText = ''
        return
      case 'part-delta': {
        if (event.kind !== 'text' && event.kind !== 'reasoning') return
        sentLengths.set(event.index, (sentLengths.get(event.index) ?? 0) + event.text.length)
        const text = heldText + event.text
        const isSplit = /[\uD800-\uDBFF]$/.test(text)
        heldText = isSplit ? text.slice(-1) : ''
        return sendText(event.kind, isSplit ? text.slice(0, -1) : text)
      }
      case 'part-close': {
        const { part } = event
        if (part.kind === 'media')
          for (const content of toMediaBlock(part)) send({ sessionUpdate: 'agent_message_chunk', content, messageId })
        else if ((part.kind === 'text' || part.kind === 'reasoning') && !sentLengths.has(event.index)) {
          sentLengths.set(event.index, part.text.length)
          sendText(part.kind, part.text)
        }
        return
      }
      case 'part-open':
      case 'wait':
      case 'usage':
      case 'warn':
      case 'finish':
        return
      default:
        event satisfies never
    }
  }

  function onCall(call: CallState): void {
    const { id } = call.call
    switch (call.status) {
      case 'validating':
        return announceCall(call.call)
      case 'awaiting-approval': {
        // The question itself shows the change; the call keeps it after the answer.
        if (call.ask.details.kind === 'plan')
          send({ sessionUpdate: 'plan', entries: toPlanEntries(call.ask.details.plan) })
        return updateCall(id, { status: 'pending', content: toQuestionContent(call.ask.details) })
      }
      case 'scheduled':
        return
      case 'executing': {
        if (call.tool.spec.name === writeTodosTool.spec.name)
          send({ sessionUpdate: 'plan', entries: toTodoEntries(readTodos(call.input)) })
        const command = call.effects.find((effect) => effect.kind === 'exec')?.command
        if (command !== undefined) executingCommands.set(command, id)
        updateCall(id, { status: 'in_progress', ...(call.modified && { rawInput: call.input }) })
        const waiting = command === undefined ? undefined : waitingTerminals.get(command)
        if (command !== undefined && waiting !== undefined) {
          waitingTerminals.delete(command)
          showTerminal(id, waiting)
        }
        return
      }
      case 'success':
      case 'error':
      case 'cancelled': {
        for (const [command, one] of executingCommands) if (one === id) executingCommands.delete(command)
        const { update } = createFinishedUpdate(call.call, call, getView(call.call), terminalByCall.get(id))
        terminalByCall.delete(id)
        return send(update)
      }
      default:
        call satisfies never
    }
  }

  function announceCall(call: CallPart): void {
    send({ sessionUpdate: 'tool_call', toolCallId: call.id, status: 'pending', ...getView(call) })
  }

  function updateCall(
    toolCallId: string,
    fields: Partial<Omit<Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }>, 'sessionUpdate'>>,
  ): void {
    send({ sessionUpdate: 'tool_call_update', ...fields, toolCallId })
  }

  function showTerminal(call: string, terminalId: string): void {
    terminalByCall.set(call, terminalId)
    updateCall(call, { content: [{ type: 'terminal', terminalId }] })
  }

  function onEntry(entry: Entry): void {
    if (!client.session?.compaction) return
    if (entry.kind === 'request' && entry.summary && compactionId === undefined) {
      compactionId = agent().createId()
      send({ sessionUpdate: 'compaction_update', compactionId, status: 'in_progress' })
    }
    if (entry.kind === 'compact')
      send({
        sessionUpdate: 'compaction_update',
        compactionId: (compactionId ??= agent().createId()),
        status: 'in_progress',
        summary: [{ type: 'text', text: entry.summary }],
      })
  }

  function onCompaction({ done, fault, beforeTokens, afterTokens }: Extract<RunEvent, { type: 'compact' }>): void {
    const counts = `about ${beforeTokens} → ${afterTokens} tokens`
    const why = fault?.message ?? 'a summary would not be shorter than the conversation'
    const text = done ? `The conversation was summarised (${counts}).` : `The conversation was not summarised: ${why}`
    if (!client.session?.compaction) return notify(text)
    // Without a request there was nothing to show the failure of.
    if (compactionId !== undefined)
      send({
        sessionUpdate: 'compaction_update',
        compactionId,
        status: done ? 'completed' : 'failed',
        ...(!done && { error: why }),
      })
    compactionId = undefined
  }

  /** A message of ours; a client without notices gets it as a message, so that it is not lost. */
  function notify(text: string, severity: 'info' | 'warning' | 'error' = 'info'): void {
    if (text.trim() === '') return
    if (client.session?.notices) return send({ sessionUpdate: 'notice', severity, title: text })
    send({
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: `${text}\n\n` },
      messageId: agent().createId(),
    })
  }

  return {
    notify,
    onEvent(event: RunEvent): void {
      switch (event.type) {
        case 'turn':
          return onTurnEvent(event.event)
        case 'call':
          return onCall(event.call)
        case 'progress':
          // A terminal shows its output itself.
          if (terminalByCall.has(event.call)) return
          return updateCall(event.call, {
            content: [
              toText(views.get(event.call)?.kind === 'execute' ? toCodeBlock(event.text) : event.text),
            ] satisfies ToolCallContent[],
          })
        case 'entry':
          return onEntry(event.entry)
        case 'compact':
          return onCompaction(event)
        case 'notice':
          return notify(event.text)
        case 'handoff':
          return notify(`The conversation continues with the agent ${event.to}.`)
        case 'subagent':
          if (event.event.type === 'call')
            updateCall(event.call, { content: [toText(`${event.name}: ${event.event.call.call.name}`)] })
          return
        case 'run-open':
        case 'ask':
        case 'reply':
        case 'budget':
        case 'output':
        case 'run-close':
          return
        default:
          event satisfies never
      }
    },
    /** A text of ours in the conversation, such as the output of a slash command. */
    say(text: string): void {
      messageId = agent().createId()
      sendText('text', text)
    },
    /** The command of a call runs in this terminal of the client. */
    onTerminal(command: string, terminalId: string): void {
      const call = executingCommands.get(command)
      if (call === undefined) waitingTerminals.set(command, terminalId)
      else showTerminal(call, terminalId)
    },
    getView,
  }
}

/** The update for a call that has its result; also for calls of a session that is loaded. */
export function createFinishedUpdate(
  call: CallPart,
  finished: Pick<Extract<CallState, { readonly result: unknown }>, 'result' | 'facts'>,
  view: ToolCallView,
  terminalId?: string,
): { readonly update: SessionUpdate } {
  const { result } = finished
  const line = findChangedLine(result)
  const [location, ...rest] = view.locations
  return {
    update: {
      sessionUpdate: 'tool_call_update',
      toolCallId: call.id,
      status: result.status === 'ok' ? 'completed' : 'failed',
      content: terminalId === undefined ? toResultContent(result, view) : [{ type: 'terminal', terminalId }],
      rawOutput: toRawOutput(finished),
      ...defined({ locations: location && line !== undefined ? [{ ...location, line }, ...rest] : undefined }),
    },
  }
}
