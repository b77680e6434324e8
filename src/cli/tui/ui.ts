import { drawFrame, getFrameDelay } from './frame.ts'
import { handleKey, type KeyResult, type UiAction } from './input/handle-key.ts'
import { KEY_HOLD_MS, applyHeldKey } from './input/approval-keys.ts'
import type { UiState } from './ui-state.ts'
import type { KeyEvent } from './term/key-parser.ts'
import { type StyledLine, wrapLine } from './term/styled-line.ts'
import { captureStderr } from './term/capture-stderr.ts'
import { openScreen, type Screen } from './term/screen.ts'
import { THEMES, type ThemeName } from './term/theme.ts'
import { supportsUtf8, type TerminalSession, openTerminal } from './term/terminal.ts'
import { markShownLines } from './view/approval.ts'
import { renderBlock, renderLiveScreen } from './view/live-screen.ts'
import type { ViewOptions } from './view/view-options.ts'
import { defined } from '../../model/defined.ts'

/** The state and its screen: keys are shown at once, every other change of the state soon after. */
export interface Ui {
  /** It prints lines only, and has no list below the input. */
  readonly isPlain: boolean
  readonly state: UiState
  update(change: (state: UiState) => UiState): void
  flush(): void
  /** Adds lines to the scrollback, above the live part. */
  notify(text: string, tone?: 'quiet' | 'warn' | 'bad'): void
  print(lines: readonly StyledLine[]): void
  readonly viewOptions: ViewOptions
  setTheme(theme: ThemeName): void
  redraw(): void
  /** Gives the terminal to another program. */
  suspendFor<T>(use: () => Promise<T>): Promise<T>
  close(): void
}

const TICK_INTERVAL_MS = 250

export function openUi(start: UiState, theme: ThemeName, onAction: (action: UiAction) => void): Ui {
  let state = start
  let highlight: ViewOptions['highlight']
  let timer: NodeJS.Timeout | undefined
  let holdTimer: NodeJS.Timeout | undefined
  let isPaintDue = false
  let frameMs = 0
  let shownConversation = start.conversation
  let isClosed = false
  const isUtf8 = supportsUtf8(process.env)
  const terminal: TerminalSession = openTerminal(process.stdin, process.stdout, {
    key: onKey,
    resize: fitTerminal,
  })
  state = { ...state, size: { width: terminal.columns, rows: terminal.rows } }
  const screen: Screen = openScreen(terminal, THEMES[theme])
  let isSuspended = false
  let restoreStderr = captureStderr(onStderrText)
  // Loading the highlighter takes time; until then code is shown plain.
  void import('./view/highlight.ts').then(({ highlightCode }) => (highlight = highlightCode))

  const currentViewOptions = (): ViewOptions & { rows: number } => ({
    width: terminal.columns,
    rows: terminal.rows,
    ...(!isUtf8 && { ascii: true }),
    ...defined({ root: state.root, highlight }),
  })

  function onKey(key: KeyEvent): void {
    applyKeyResult(handleKey(state, key))
    clearTimeout(holdTimer)
    if (state.heldKey !== undefined) holdTimer = setTimeout(() => applyKeyResult(applyHeldKey(state)), KEY_HOLD_MS)
  }

  function applyKeyResult({ state: next, actions = [] }: KeyResult): void {
    state = next
    for (const action of actions) onAction(action)
    paintKey()
  }

  function onStderrText(text: string): void {
    printNotice(text.trim(), 'warn')
  }

  function fitTerminal(): void {
    state = { ...state, size: { width: terminal.columns, rows: terminal.rows } }
    screen.resize(terminal.columns, terminal.rows)
    paint()
  }

  function paint(): void {
    clearTimeout(timer)
    // While the model works, the elapsed time changes.
    timer = state.runningSince === undefined ? undefined : setTimeout(paint, TICK_INTERVAL_MS)
    isPaintDue = false
    if (isSuspended) return
    const startedAt = performance.now()
    state = markShownLines(drawFrame(state, screen, currentViewOptions(), Date.now()))
    shownConversation = state.conversation
    frameMs = performance.now() - startedAt
  }

  /** Text that waits for its frame would delay a key. */
  function paintKey(): void {
    if (!isPaintDue || isSuspended) return paint()
    const shown = { ...state, conversation: shownConversation }
    const { lines, cursor } = renderLiveScreen(shown, currentViewOptions(), Date.now())
    screen.show(lines, cursor)
    state = markShownLines(state)
  }

  function printNotice(text: string, tone: 'quiet' | 'warn' | 'bad' = 'quiet'): void {
    paint()
    screen.commit(renderBlock({ kind: 'notice', text, tone }, currentViewOptions(), 0))
  }

  paint()
  return {
    isPlain: false,
    get state() {
      return state
    },
    update(change) {
      state = change(state)
      if (isPaintDue || isClosed) return
      isPaintDue = true
      clearTimeout(timer)
      timer = setTimeout(paint, getFrameDelay(frameMs))
    },
    flush() {
      if (isPaintDue) paint()
    },
    notify: printNotice,
    print(lines) {
      paint()
      screen.commit(lines.flatMap((one) => wrapLine(one, terminal.columns, [{ text: '  ' }])))
    },
    get viewOptions() {
      return currentViewOptions()
    },
    setTheme(name) {
      screen.setTheme(THEMES[name])
      screen.resize(terminal.columns, terminal.rows)
    },
    redraw() {
      screen.resize(terminal.columns, terminal.rows)
      screen.redraw()
    },
    async suspendFor(use) {
      screen.close()
      isSuspended = true
      restoreStderr()
      try {
        return await terminal.suspendFor(use)
      } finally {
        isSuspended = false
        restoreStderr = captureStderr(onStderrText)
        // The terminal may have been resized meanwhile.
        fitTerminal()
      }
    },
    close() {
      isClosed = true
      paint()
      clearTimeout(timer)
      clearTimeout(holdTimer)
      screen.close()
      terminal.close()
      restoreStderr()
    },
  }
}
