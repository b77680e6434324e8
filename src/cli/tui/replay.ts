import type { Entry } from '../../session/entry.ts'
import type { CallPart } from '../../model/turn.ts'
import type { Block } from './conversation.ts'
import type { Line } from './term/line.ts'
import { line } from './term/line.ts'
import { blockLines } from './view/frame.ts'
import type { Look } from './view/look.ts'

/** So many of the last blocks are shown again; the rest is in the log. */
const MOST = 30

/** The end of a conversation that was had before, as it looked then. */
export function replay(entries: readonly Entry[], look: Look): Line[] {
  const calls = new Map<string, CallPart>()
  const blocks = entries.flatMap((entry): Block[] => {
    if (entry.kind === 'user') {
      const text = entry.parts.map((part, at) => (part.kind === 'text' && at === 0 ? part.text : '')).join('')
      return [{ kind: 'user', text }]
    }
    if (entry.kind === 'turn')
      return entry.turn.parts.flatMap((part): Block[] => {
        if (part.kind === 'call') calls.set(part.id, part)
        return part.kind === 'text' && part.text.trim() !== '' ? [{ kind: 'text', text: part.text, done: true }] : []
      })
    if (entry.kind === 'result') {
      const { result, ms, facts } = entry
      const status = result.status === 'ok' ? 'success' : result.status === 'cancelled' ? 'cancelled' : 'error'
      const call = calls.get(result.id) ?? { kind: 'call', id: result.id, name: result.name, raw: '' }
      return [{ kind: 'call', call: { status, call, result, ms, ...(facts && { facts }) }, progress: '', since: 0 }]
    }
    return []
  })
  const shown = blocks.slice(-MOST)
  const more =
    blocks.length > MOST ? [[], line(`… ${blocks.length - MOST} earlier pieces are in the log`, 'quiet')] : []
  return [...more, ...shown.flatMap((block) => blockLines(block, look, 0))]
}
