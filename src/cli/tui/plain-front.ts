import { createInterface } from 'node:readline'
import type { Ask } from '../../agent/call-state.ts'
import { visible } from '../output/visible.ts'
import { loseOutput } from '../stopping.ts'
import { settled } from './conversation.ts'
import type { Front } from './front.ts'
import type { Deed } from './input/press.ts'
import { type State, UNSEEN } from './state.ts'
import { type Line, plain, wrap } from './term/line.ts'
import { type Choice, choicesOf, scopeWords } from './view/answers.ts'
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
      write([[], ...askLines([ask], { ...UNSEEN, revealed: [ask.id] }, { ...look(), rows: 1_000_000 }).lines])
      process.stdout.write(promptFor(ask))
    }
  }

  lines.on('line', (text) => {
    const [ask] = state.asks
    if (ask) return answer(ask, text.trim())
    if (text.trim() === '') return lines.prompt()
    act({ do: 'say', text: text.trim() })
  })
  lines.on('SIGINT', () => act({ do: state.running === undefined ? 'quit' : 'stop' }))
  process.stdin.on('error', () => loseOutput())
  lines.on('close', () => act({ do: 'quit' }))

  function answer(ask: Ask, text: string): void {
    const { id } = ask
    const letter = /^(?:y|yes|a|n|no)\b/i.exec(text)?.[0].charAt(0).toLowerCase()
    const words = text.replace(/^no?\b[,.: ]*/i, '')
    const choices = choicesOf(ask)
    const choice = /^a\d$/i.test(text) ? choices[Number(text.slice(1)) - 1] : undefined
    if (choice) return act({ do: 'answer', ask: id, outcome: 'proceed-always', ...choice })
    if (ask.details.kind === 'sandbox' && /^o(?:utside)?$/i.test(text))
      return act({ do: 'answer', ask: id, outcome: 'proceed-once', access: 'outside' })
    if (ask.details.kind === 'exec' && ask.details.isOffline && /^w(?:ith network)?$/i.test(text))
      return act({ do: 'answer', ask: id, outcome: 'proceed-once', access: 'network' })
    if (letter === 'y') return act({ do: 'answer', ask: id, outcome: 'proceed-once' })
    if (letter === 'n') return act({ do: 'answer', ask: id, outcome: 'cancel', ...(words !== '' && { words }) })
    if (letter === 'a' && ask.details.kind === 'plan') return act({ do: 'answer', ask: id, outcome: 'proceed-always' })
    if (letter === 'a') write(choiceLines(choices))
    process.stdout.write(promptFor(ask))
  }

  function choiceLines(choices: readonly Choice[]): Line[] {
    return choices.flatMap(({ grant, scope }, at) =>
      wrap([{ text: visible(`a${at + 1}: always, ${scopeWords(scope, state.root)}: ${grant.covers}`) }], look().width),
    )
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

function promptFor(ask: Ask): string {
  const always = choicesOf(ask).length > 0 || ask.details.kind === 'plan' ? ' a,' : ''
  const outside = ask.details.kind === 'sandbox' && ask.details.blocked === 'network' ? ' o (outside the sandbox),' : ''
  const network = ask.details.kind === 'exec' && ask.details.isOffline ? ' w (with network),' : ''
  return `Answer y,${network}${outside}${always} or n with your reason: `
}
