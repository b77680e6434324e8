import type { FinishedCall } from '../../agent/calls/call-state.ts'
import { defined } from '../../model/defined.ts'
import type { CallPart, ResultStatus, Turn } from '../../model/turn.ts'
import type { Entry } from '../../session/log/entry.ts'
import type { ConversationBlock } from './conversation-state.ts'
import { type StyledLine, styledLine } from './term/styled-line.ts'
import { renderBlock } from './view/live-screen.ts'
import type { ViewOptions } from './view/view-options.ts'

const MAX_BLOCKS_SHOWN = 30

/** The end of the conversation of a session that was opened again. */
export function renderSessionHistory(entries: readonly Entry[], viewOptions: ViewOptions): StyledLine[] {
  const calls = new Map<string, CallPart>()
  const blocks = entries.flatMap((entry): ConversationBlock[] => {
    if (entry.kind === 'user')
      return [{ kind: 'user', text: entry.parts[0]?.kind === 'text' ? entry.parts[0].text : '' }]
    if (entry.kind === 'turn')
      return entry.turn.parts.flatMap((part): ConversationBlock[] => {
        if (part.kind === 'call') calls.set(part.id, part)
        return part.kind === 'text' && part.text.trim() !== '' ? [{ kind: 'text', text: part.text, done: true }] : []
      })
    if (entry.kind !== 'result') return []
    return [{ kind: 'call', call: toFinishedCall(entry, calls.get(entry.result.id)), progress: '', since: 0 }]
  })
  const shown = blocks.slice(-MAX_BLOCKS_SHOWN)
  const hidden = blocks.length - shown.length
  const more = hidden > 0 ? [[], styledLine(`… ${hidden} earlier blocks are in the log`, 'quiet')] : []
  return [...more, ...shown.flatMap((block) => renderBlock(block, viewOptions, 0))]
}

/** The last call with this id in a session. */
export function findCallPart(turns: readonly Turn[], id: string): CallPart | undefined {
  return turns
    .flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
    .findLast((part): part is CallPart => part.kind === 'call' && part.id === id)
}

/** A call as its logged result shows it. */
export function toFinishedCall(
  { result, ms, facts }: Extract<Entry, { kind: 'result' }>,
  call: CallPart | undefined,
): FinishedCall {
  return {
    status: CALL_STATUS[result.status],
    call: call ?? { kind: 'call', id: result.id, name: result.name, raw: '' },
    result,
    ms,
    ...defined({ facts }),
  }
}

const CALL_STATUS: Readonly<Record<ResultStatus, FinishedCall['status']>> = {
  ok: 'success',
  error: 'error',
  denied: 'error',
  cancelled: 'cancelled',
  interrupted: 'error',
}
