import { contextTokens, estimateTokens, historyLength } from '../../../agent/compact.ts'
import { pinnedNotes } from '../../../session/project.ts'
import { grouped } from '../../output/columns.ts'
import { line, type Line } from '../term/line.ts'
import type { Desk } from './slash.ts'

/** `/context`: what fills the context window, by estimate; the vendor's own count, where there is one, is the sum. */
export async function showContext({ front, agent }: Desk): Promise<void> {
  const { session, system, toolbox, model, catalog } = agent()
  const pinned = pinnedNotes(session.entries).reduce((sum, { text }) => sum + text.length, 0)
  const parts: readonly (readonly [string, number])[] = [
    ['System prompt', system.length],
    ['Tools', JSON.stringify(toolbox.specs).length],
    ['Environment, instructions, memories', pinned],
    ['Conversation', Math.max(historyLength(session.turns) - pinned, 0)],
  ]
  const window = model.window ?? (await catalog?.())?.card(model.origin)?.window
  const counted = contextTokens(session.turns)
  const estimate = parts.reduce((sum, [, characters]) => sum + estimateTokens(characters), 0)
  const used = session.turns.some((turn) => turn.role === 'assistant' && turn.usage) ? counted : estimate
  const share = window === undefined ? '' : ` of ${grouped(window)} (${Math.round((used / window) * 100)} %)`
  const rows = parts.map(([name, characters]): Line => [
    { text: `  ${name.padEnd(38)}` },
    { text: `about ${grouped(estimateTokens(characters))}`, tone: 'quiet' },
  ])
  front.print([[], line(`${grouped(used)} tokens${share}`, 'strong'), ...rows])
  front.say(
    window === undefined
      ? 'The size of the context window of this model is not known.'
      : '/compact summarises the conversation.',
  )
}
