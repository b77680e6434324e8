import { createInterface } from 'node:readline'
import { visible } from '../output/visible.ts'
import { loseOutput } from '../stopping.ts'
import { settled } from './conversation.ts'
import type { Front } from './front.ts'
import type { Deed } from './input/press.ts'
import type { State } from './state.ts'
import { type Line, plain, wrap } from './term/line.ts'
import { askLines } from './view/ask.ts'
import { blockLines } from './view/frame.ts'
import type { Look } from './view/look.ts'

/**
 * The same conversation in plain lines, for a screen reader or a terminal that can do nothing else: nothing is ever
 * written twice, nothing moves, and every answer is a line.
 */
export function openPlainFront(start: State, act: (deed: Deed) => void): Front {
  let state = start
  const shownAsks = new Set<string>()
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  const look = (): Look => ({
    width: process.stdout.columns || 80,
    ...(state.root !== undefined && { root: state.root }),
  })

  function write(rows: readonly Line[]): void {
    for (const row of rows) process.stdout.write(`${plain(row)}\n`)
  }

  /** What is final is said; a question is said once, whole. */
  function tell(): void {
    const { final, rest } = settled(state.conversation)
    state = { ...state, conversation: rest }
    // What the person typed stands there already.
    write(final.filter(({ kind }) => kind !== 'user').flatMap((block) => blockLines(block, look(), Date.now())))
    for (const ask of state.asks.filter(({ id }) => !shownAsks.has(id))) {
      shownAsks.add(ask.id)
      write([[], ...askLines([ask], { at: 0, seen: [], top: 0 }, { ...look(), rows: 10_000 }).lines])
      process.stdout.write('Answer y, a, or n with your reason: ')
    }
  }

  lines.on('line', (text) => {
    const [ask] = state.asks
    if (ask) return answer(ask.id, text.trim())
    if (text.trim() === '') return lines.prompt()
    act({ do: 'say', text: text.trim() })
  })
  lines.on('SIGINT', () => act({ do: state.running === undefined ? 'quit' : 'stop' }))
  process.stdin.on('error', () => loseOutput())
  lines.on('close', () => act({ do: 'quit' }))

  function answer(ask: string, text: string): void {
    const letter = text.charAt(0).toLowerCase()
    const words = text.replace(/^no?\b[,.: ]*/i, '')
    if (letter === 'y') act({ do: 'answer', ask, outcome: 'proceed-once' })
    else if (letter === 'a') act({ do: 'answer', ask, outcome: 'proceed-always' })
    else if (letter === 'n') act({ do: 'answer', ask, outcome: 'cancel', ...(words !== '' && { words }) })
    else process.stdout.write('Answer y, a, or n with your reason: ')
  }

  lines.prompt()
  return {
    get state() {
      return state
    },
    show: tell,
    update(change) {
      const wasBusy = state.running !== undefined
      state = change(state)
      tell()
      if (wasBusy && state.running === undefined) lines.prompt()
    },
    say: (text) => write([[{ text: visible(text) }]]),
    print: (rows) => write(rows.flatMap((row) => wrap(row, look().width))),
    get look() {
      return look()
    },
    setTheme: () => undefined,
    redraw: () => undefined,
    async lend(use) {
      lines.pause()
      try {
        return await use()
      } finally {
        lines.resume()
      }
    },
    close() {
      tell()
      lines.removeAllListeners('close')
      lines.close()
    },
  }
}
