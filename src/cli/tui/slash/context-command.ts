import { countContextTokens, estimateTokens, countHistoryChars } from '../../../agent/history/compact.ts'
import { findPinnedNotes } from '../../../session/derive-model-history.ts'
import { formatNumber } from '../../output/format.ts'
import { styledLine, type StyledLine } from '../term/styled-line.ts'
import type { AppParts } from '../app-parts.ts'

/** `/context`: what fills the context window, by estimate; the total is the count of the vendor, if there is one. */
export async function showContextUsage({ ui, session: active }: AppParts): Promise<void> {
  const { session, system, toolbox, model, catalog } = active.agent
  const pinned = findPinnedNotes(session.entries).reduce((sum, { text }) => sum + text.length, 0)
  const parts: readonly (readonly [string, number])[] = [
    ['System prompt', system.length],
    ['Tools', JSON.stringify(toolbox.specs).length],
    ['Environment, instructions, memories', pinned],
    ['Conversation', Math.max(countHistoryChars(session.turns) - pinned, 0)],
  ]
  const window = model.window ?? (await catalog?.())?.card(model.origin)?.window
  const counted = countContextTokens(session.turns)
  const estimate = parts.reduce((sum, [, characters]) => sum + estimateTokens(characters), 0)
  const used = session.turns.some((turn) => turn.role === 'assistant' && turn.usage) ? counted : estimate
  const share = window === undefined ? '' : ` of ${formatNumber(window)} (${Math.round((used / window) * 100)} %)`
  const rows = parts.map(([name, characters]): StyledLine => [
    { text: `  ${name.padEnd(38)}` },
    { text: `about ${formatNumber(estimateTokens(characters))}`, tone: 'quiet' },
  ])
  ui.print([[], styledLine(`${formatNumber(used)} tokens${share}`, 'strong'), ...rows])
  ui.notify(
    window === undefined ? 'The context window of this model is unknown.' : '/compact summarises the conversation.',
  )
}
