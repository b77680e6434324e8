import { createInterface } from 'node:readline'
import type { ApprovalReply, ApprovalRequest } from '../../agent/calls/call-state.ts'
import { escapeForTerminal } from '../output/escape.ts'
import { stopForLostOutput } from '../stop-signals.ts'
import { takeBlocksForScrollback } from './conversation-state.ts'
import type { Ui } from './ui.ts'
import type { UiAction } from './input/handle-key.ts'
import { type UiState, INITIAL_APPROVAL_VIEW_STATE } from './ui-state.ts'
import { type StyledLine, lineText, wrapLine } from './term/styled-line.ts'
import { type GrantChoice, listGrantChoices, describeScope } from './view/approval-answers.ts'
import { renderApproval } from './view/approval.ts'
import { renderBlock } from './view/live-screen.ts'
import type { ViewOptions } from './view/view-options.ts'
import { defined } from '../../model/defined.ts'

/** A front end of plain lines, for screen readers and simple terminals: nothing is redrawn, and every answer is a line. */
export function openPlainUi(start: UiState, onAction: (action: UiAction) => void): Ui {
  let state = start
  const shownApprovals = new Set<string>()
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  const currentViewOptions = (): ViewOptions => ({
    width: process.stdout.columns || 80,
    ...defined({ root: state.root }),
  })

  function write(rows: readonly StyledLine[]): void {
    for (const row of rows) process.stdout.write(`${lineText(row)}\n`)
  }

  /** Prints the blocks that are final, and each approval request once. */
  function printNew(): void {
    const { final, rest } = takeBlocksForScrollback(state.conversation)
    state = { ...state, conversation: rest }
    // What the user typed is on the terminal already.
    const printed = final.filter(({ kind }) => kind !== 'user')
    write(printed.flatMap((block) => renderBlock(block, currentViewOptions(), Date.now())))
    for (const ask of state.approvals.filter(({ id }) => !shownApprovals.has(id))) {
      shownApprovals.add(ask.id)
      const viewState = { ...INITIAL_APPROVAL_VIEW_STATE, revealedIds: [ask.id] }
      write([[], ...renderApproval([ask], viewState, { ...currentViewOptions(), rows: 1_000_000 }).lines])
      process.stdout.write(formatAnswerPrompt(ask))
    }
  }

  lines.on('line', (text) => {
    const [ask] = state.approvals
    if (ask) return answer(ask, text.trim())
    if (text.trim() === '') return lines.prompt()
    onAction({ do: 'submit', text: text.trim() })
  })
  lines.on('SIGINT', () => onAction({ do: state.runningSince === undefined ? 'quit' : 'stop' }))
  process.stdin.on('error', () => stopForLostOutput())
  lines.on('close', () => onAction({ do: 'quit' }))

  function answer(ask: ApprovalRequest, text: string): void {
    const reply = (answered: Omit<ApprovalReply, 'ask'>): void => onAction({ do: 'answer', ask: ask.id, ...answered })
    const letter = /^(?:y|yes|a|n|no)\b/i.exec(text)?.[0].charAt(0).toLowerCase()
    const words = text.replace(/^no?\b[,.: ]*/i, '')
    if (ask.details.kind === 'question') {
      const option = /^\d$/.test(text.trim()) ? ask.details.options[Number(text) - 1]?.label : undefined
      if (text.trim() === '') return void process.stdout.write(formatAnswerPrompt(ask))
      return reply({ outcome: 'proceed-once', words: option ?? text.trim() })
    }
    const choices = listGrantChoices(ask)
    const choice = /^a\d$/i.test(text) ? choices[Number(text.slice(1)) - 1] : undefined
    if (choice) return reply({ outcome: 'proceed-always', ...choice })
    if (ask.details.kind === 'sandbox' && /^o(?:utside)?$/i.test(text))
      return reply({ outcome: 'proceed-once', access: 'outside' })
    if (ask.details.kind === 'exec' && ask.details.isOffline && /^w(?:ith network)?$/i.test(text))
      return reply({ outcome: 'proceed-once', access: 'network' })
    if (letter === 'y') return reply({ outcome: 'proceed-once' })
    if (letter === 'n') return reply({ outcome: 'cancel', ...(words !== '' && { words }) })
    if (letter === 'a' && ask.details.kind === 'plan') return reply({ outcome: 'proceed-always' })
    if (letter === 'a') write(choiceLines(choices))
    process.stdout.write(formatAnswerPrompt(ask))
  }

  function choiceLines(choices: readonly GrantChoice[]): StyledLine[] {
    return choices.flatMap(({ grant, scope }, at) => {
      const text = `a${at + 1}: always, ${describeScope(scope, state.root)}: ${grant.covers}`
      return wrapLine([{ text: escapeForTerminal(text) }], currentViewOptions().width)
    })
  }

  lines.prompt()
  return {
    isPlain: true,
    get state() {
      return state
    },
    flush: printNew,
    update(change) {
      const wasBusy = state.runningSince !== undefined
      state = change(state)
      printNew()
      if (wasBusy && state.runningSince === undefined) lines.prompt()
    },
    notify: (text) => write([[{ text: escapeForTerminal(text) }]]),
    print: (rows) => write(rows.flatMap((row) => wrapLine(row, currentViewOptions().width))),
    get viewOptions() {
      return currentViewOptions()
    },
    setTheme: () => undefined,
    redraw: () => undefined,
    async suspendFor(use) {
      lines.pause()
      try {
        return await use()
      } finally {
        lines.resume()
      }
    },
    close() {
      printNew()
      lines.removeAllListeners('close')
      lines.close()
    },
  }
}

function formatAnswerPrompt(ask: ApprovalRequest): string {
  if (ask.details.kind === 'question')
    return ask.details.options.length > 0 ? 'Answer with a number, or write your answer: ' : 'Write your answer: '
  const always = listGrantChoices(ask).length > 0 || ask.details.kind === 'plan' ? ' a,' : ''
  const outside = ask.details.kind === 'sandbox' && ask.details.blocked === 'network' ? ' o (outside the sandbox),' : ''
  const network = ask.details.kind === 'exec' && ask.details.isOffline ? ' w (with network),' : ''
  return `Answer y,${network}${outside}${always} or n with your reason: `
}
