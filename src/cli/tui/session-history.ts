import type { Entry } from '../../session/log/entry.ts'
import type { CallPart } from '../../model/turn.ts'
import type { ConversationBlock } from './conversation.ts'
import type { StyledLine } from './term/styled-line.ts'
import { styledLine } from './term/styled-line.ts'
import { renderBlock } from './view/frame.ts'
import type { ViewOptions } from './view/view-options.ts'
import { defined } from '../../model/defined.ts'

/** So many of the last blocks are shown again; the rest is in the log. */
const MAX_BLOCKS_SHOWN = 30

/** The end of a conversation that was had before, as it looked then. */
export function renderSessionHistory(entries: readonly Entry[], viewOptions: ViewOptions): StyledLine[] {
  const calls = new Map<string, CallPart>()
  const blocks = entries.flatMap((entry): ConversationBlock[] => {
    if (entry.kind === 'user') {
      const text = entry.parts.map((part, at) => (part.kind === 'text' && at === 0 ? part.text : '')).join('')
      return [{ kind: 'user', text }]
    }
    if (entry.kind === 'turn')
      return entry.turn.parts.flatMap((part): ConversationBlock[] => {
        if (part.kind === 'call') calls.set(part.id, part)
        return part.kind === 'text' && part.text.trim() !== '' ? [{ kind: 'text', text: part.text, done: true }] : []
      })
    if (entry.kind === 'result') {
      const { result, ms, facts } = entry
      const status = result.status === 'ok' ? 'success' : result.status === 'cancelled' ? 'cancelled' : 'error'
      const call = calls.get(result.id) ?? { kind: 'call', id: result.id, name: result.name, raw: '' }
      return [{ kind: 'call', call: { status, call, result, ms, ...defined({ facts }) }, progress: '', since: 0 }]
    }
    return []
  })
  const shown = blocks.slice(-MAX_BLOCKS_SHOWN)
  const more =
    blocks.length > MAX_BLOCKS_SHOWN
      ? [[], styledLine(`… ${blocks.length - MAX_BLOCKS_SHOWN} earlier pieces are in the log`, 'quiet')]
      : []
  return [...more, ...shown.flatMap((block) => renderBlock(block, viewOptions, 0))]
}
