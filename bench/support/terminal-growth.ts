import { applyRunEvent, type LiveConversation } from '../../src/cli/tui/conversation-state.ts'
import { drawFrame, getFrameDelay } from '../../src/cli/tui/frame.ts'
import { openScreen } from '../../src/cli/tui/term/screen.ts'
import { THEMES } from '../../src/cli/tui/term/theme.ts'
import { createUiState } from '../../src/cli/tui/ui-state.ts'
import { highlightCode } from '../../src/cli/tui/view/highlight.ts'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'

/** A thousand chunks of five characters a second. */
const CHARS_PER_MS = 5
const CHUNK_CHARS = 5

const repeat = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_unused, at) => line(at)).join('')
const code = (at: number): string => `  const value${at} = compute(${at}, "text ${at}") // a comment on this line\n`

/** Texts of about 16,000 characters that are one block, or many. */
export const GROWING_TEXTS: Readonly<Record<string, (scale: number) => string>> = {
  'one code block': (scale) => `\`\`\`ts\n${repeat(250 * scale, code)}\`\`\`\n`,
  'a diff': (scale) => `\`\`\`diff\n${repeat(250 * scale, (at) => `${at % 3 ? '+' : '-'}${code(at)}`)}\`\`\`\n`,
  'many code blocks': (scale) => repeat(40 * scale, (at) => `Step ${at}:\n\n\`\`\`ts\n${repeat(6, code)}\`\`\`\n\n`),
  'one paragraph of many lines': (scale) =>
    repeat(300 * scale, (at) => `line ${at} of *one* paragraph, with \`code\` in it\n`),
  'one list': (scale) => repeat(300 * scale, (at) => `- item ${at} of **one** list, with \`code\` in it\n`),
  'one table': (scale) => `| a | b |\n|---|---|\n${repeat(400 * scale, (at) => `| row ${at} | of \`one\` table |\n`)}`,
}

/** The shortest processor time in milliseconds for texts of these lengths, which take turns: the speed of a machine changes. */
export function measureGrowth(createText: (scale: number) => string, scales: readonly number[]): number[] {
  const texts = scales.map(createText)
  const rounds = Array.from({ length: ROUNDS }, () => texts.map(measureStream))
  return scales.map((_scale, at) => Math.min(...rounds.map((times) => times[at] ?? Number.NaN)))
}

const ROUNDS = 5

/** Streams a text to the screen; the frames come as they do in the terminal UI. */
function measureStream(text: string): number {
  const screen = openScreen({ columns: 100, rows: 40, write: () => undefined }, THEMES.dark)
  const options = { width: 100, rows: 40, highlight: highlightCode }
  let state = createUiState({ model: 'a/b', mode: 'default', folder: '~' })
  let nextFrameAt = 0
  const take = (event: Extract<RunEvent, { type: 'turn' }>['event']): void => {
    const conversation: LiveConversation = applyRunEvent(state.conversation, { type: 'turn', event }, 0)
    state = { ...state, conversation }
  }
  const before = process.cpuUsage()
  take({ type: 'part-open', index: 0, kind: 'text' })
  for (let at = 0; at < text.length; at += CHUNK_CHARS) {
    take({ type: 'part-delta', index: 0, kind: 'text', text: text.slice(at, at + CHUNK_CHARS) })
    if (at / CHARS_PER_MS < nextFrameAt) continue
    const startedAt = performance.now()
    state = drawFrame(state, screen, options, 0)
    nextFrameAt = at / CHARS_PER_MS + getFrameDelay(performance.now() - startedAt)
  }
  take({ type: 'finish', reason: 'stop' })
  drawFrame(state, screen, options, 0)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
