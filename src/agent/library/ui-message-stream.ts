import type { TurnEvent } from '../../model/event.ts'
import { formatResultText } from '../../model/text.ts'
import type { AssistantPart } from '../../model/turn.ts'
import type { CallState } from '../calls/call-state.ts'
import type { CloseReason, RunEvent } from '../loop/run-event.ts'
import { createEventStreamResponse } from './event-stream-response.ts'
import type { Run } from './run-handle.ts'

/** A chunk of the UI message stream of Vercel's AI SDK. */
export type UiMessageChunk = { readonly type: string; readonly [key: string]: unknown }

/**
 * The events of a run as the UI message stream of Vercel's AI SDK, so that chat front ends made for it (`useChat`) can show a run.
 * The run is cancelled if the client goes away.
 */
export function toUiMessageStreamResponse(run: Run<unknown>): Response {
  const toChunks = createUiMessageWriter()
  const write = (event: RunEvent) => toChunks(event).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  return createEventStreamResponse(run, write, {
    end: 'data: [DONE]\n\n',
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
  })
}

/** Turns the events of one run, in order, into chunks. */
export function createUiMessageWriter(): (event: RunEvent) => readonly UiMessageChunk[] {
  const parts = new Map<number, OpenPart>()
  let turn = 0

  function onTurnEvent(event: TurnEvent): readonly UiMessageChunk[] {
    switch (event.type) {
      case 'open': {
        // What was sent of a response that is requested again cannot be taken back; a client may drop these parts.
        const ids = [...parts.values()].map(({ id }) => id)
        const ends = closeParts()
        turn++
        const discarded = { type: 'data-discarded', data: { ids }, transient: true }
        return [...ends, ...(event.anew && ids.length > 0 ? [discarded] : []), { type: 'start-step' }]
      }
      case 'part-open': {
        const isAnnounced = event.kind !== 'call' || event.id !== undefined
        const part = { id: event.id ?? `${turn}-${event.index}`, kind: event.kind, isAnnounced }
        parts.set(event.index, part)
        // Without its id, a call is shown when it is complete.
        if (part.kind === 'call')
          return event.id === undefined
            ? []
            : [{ type: 'tool-input-start', toolCallId: part.id, toolName: event.name ?? '', dynamic: true }]
        return part.kind === 'media' ? [] : [{ type: `${part.kind}-start`, id: part.id }]
      }
      case 'part-delta': {
        const part = parts.get(event.index)
        if (!part?.isAnnounced || part.kind === 'media') return []
        if (part.kind === 'call') return [{ type: 'tool-input-delta', toolCallId: part.id, inputTextDelta: event.text }]
        return [{ type: `${part.kind}-delta`, id: part.id, delta: event.text }]
      }
      case 'part-close':
        return closePart(event.index, event.part)
      case 'finish':
        return [...closeParts(), { type: 'finish-step' }]
      case 'wait':
      case 'usage':
      case 'warn':
        return []
      default:
        return event satisfies never
    }
  }

  function closePart(index: number, closed: AssistantPart): readonly UiMessageChunk[] {
    const part = parts.get(index)
    parts.delete(index)
    if (closed.kind === 'call') {
      const { id: toolCallId, name: toolName, input, raw, flaw } = closed
      const start = { type: 'tool-input-start', toolCallId, toolName, dynamic: true }
      const end =
        input === undefined
          ? { type: 'tool-input-error', input: raw, errorText: flaw?.message ?? 'The arguments are not valid.' }
          : { type: 'tool-input-available', input }
      return [...(part?.isAnnounced ? [] : [start]), { toolCallId, toolName, dynamic: true, ...end }]
    }
    if (closed.kind === 'media')
      return [
        { type: 'file', mediaType: closed.mime, url: closed.uri ?? `data:${closed.mime};base64,${closed.data ?? ''}` },
      ]
    return part ? [{ type: `${part.kind}-end`, id: part.id }] : []
  }

  function closeParts(): readonly UiMessageChunk[] {
    const open = [...parts.values()].filter(({ kind }) => kind === 'text' || kind === 'reasoning')
    parts.clear()
    return open.map(({ id, kind }) => ({ type: `${kind}-end`, id }))
  }

  return (event) => {
    switch (event.type) {
      case 'run-open':
        return [{ type: 'start', messageId: event.prompt, messageMetadata: { session: event.session } }]
      case 'turn':
        return onTurnEvent(event.event)
      case 'call':
        return toResultChunks(event.call)
      case 'ask':
        return [{ type: 'tool-approval-request', approvalId: event.ask.id, toolCallId: event.ask.call }]
      case 'notice':
        return [{ type: 'data-notice', data: event.text, transient: true }]
      case 'run-close': {
        const { usage, turns, cost, session, reason, fault } = event
        const messageMetadata = { session, usage, turns, cost, finish: reason }
        if (reason === 'cancelled') return [{ type: 'abort' }]
        const error = fault ? [{ type: 'error', errorText: fault.message }] : []
        return [...error, { type: 'finish', finishReason: FINISH_REASONS[reason], messageMetadata }]
      }
      case 'output':
        return event.isPartial ? [] : [{ type: 'data-output', data: event.value }]
      case 'progress':
      case 'reply':
      case 'entry':
      case 'budget':
      case 'compact':
      case 'subagent':
      case 'handoff':
        return []
      default:
        return event satisfies never
    }
  }
}

interface OpenPart {
  readonly id: string
  readonly kind: AssistantPart['kind']
  readonly isAnnounced: boolean
}

function toResultChunks(state: CallState): readonly UiMessageChunk[] {
  if (!('result' in state)) return []
  const { result } = state
  const toolCallId = result.id
  switch (result.status) {
    case 'ok':
      return [
        { type: 'tool-output-available', toolCallId, output: result.data ?? formatResultText(result), dynamic: true },
      ]
    case 'denied':
      return [{ type: 'tool-output-denied', toolCallId }]
    case 'error':
    case 'cancelled':
    case 'interrupted':
      return [{ type: 'tool-output-error', toolCallId, errorText: formatResultText(result), dynamic: true }]
    default:
      return result.status satisfies never
  }
}

const FINISH_REASONS: Readonly<Record<CloseReason, string>> = {
  done: 'stop',
  'awaiting-approval': 'tool-calls',
  'turn-limit': 'other',
  'time-limit': 'other',
  'cost-limit': 'other',
  loop: 'other',
  cancelled: 'other',
  'output-lost': 'other',
  length: 'length',
  filter: 'content-filter',
  fault: 'error',
  unsaved: 'error',
  'taken-over': 'error',
}
