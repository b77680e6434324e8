import { countContextTokens, estimateTokens, countHistoryChars } from '../../../agent/history/compact.ts'
import { findPinnedNotes } from '../../../session/project-history.ts'
import { formatNumber } from '../../output/format.ts'
import { styledLine, type StyledLine } from '../term/styled-line.ts'
import type { SlashCommandContext } from './slash-command.ts'

/** `/context`: what fills the context window, by estimate; the vendor's own count, where there is one, is the sum. */
export async function showContextUsage({ ui, agent }: SlashCommandContext): Promise<void> {
  const { session, system, toolbox, model, catalog } = agent()
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
    window === undefined
      ? 'The size of the context window of this model is not known.'
      : '/compact summarises the conversation.',
  )
}
