import { type Block, settled } from './conversation.ts'
import type { Deed } from './input/press.ts'
import { press, type Pressed } from './input/press.ts'
import { HOLD_MS, settle } from './input/press-ask.ts'
import type { State } from './state.ts'
import type { Key } from './term/keys.ts'
import { type Line, wrap } from './term/line.ts'
import { hearErrors } from './term/own-errors.ts'
import { openScreen, type Screen } from './term/screen.ts'
import { THEMES, type ThemeName } from './term/theme.ts'
import { hasUtf8, type OpenTerminal, openTerminal } from './term/terminal.ts'
import { withShown } from './view/ask.ts'
import { blockLines, frame } from './view/frame.ts'
import type { Look } from './view/look.ts'

/** The screen with the state behind it: every change is shown, at most so often as a person can see. */
export interface Front {
  readonly state: State
  update(change: (state: State) => State): void
  /** Shows now what is not shown yet. */
  show(): void
  /** Puts something above the live part for good. */
  say(text: string, tone?: 'quiet' | 'warn' | 'bad'): void
  print(lines: readonly Line[]): void
  readonly look: Look
  setTheme(theme: ThemeName): void
  /** Draws everything anew on an empty screen. */
  redraw(): void
  /** Lets another program have the terminal. */
  lend<T>(use: () => Promise<T>): Promise<T>
  close(): void
}

/** Keystrokes are shown at once; what comes in by itself, so many milliseconds later at most. */
const FRAME_MS = 33
const TICK_MS = 250

/** Opens the screen. What a key asks for beyond the text goes to `act`. */
export function openFront(start: State, theme: ThemeName, act: (deed: Deed) => void): Front {
  let state = start
  let highlight: Look['highlight']
  let timer: NodeJS.Timeout | undefined
  let hold: NodeJS.Timeout | undefined
  /** Something has changed that is not shown yet. */
  let isDue = false
  let isClosed = false
  const isUtf8 = hasUtf8(process.env)
  const terminal: OpenTerminal = openTerminal(process.stdin, process.stdout, {
    key: onKey,
    resize: (columns, rows) => {
      state = { ...state, size: { width: columns, rows } }
      screen.resize(columns, rows)
      paint()
    },
  })
  state = { ...state, size: { width: terminal.columns, rows: terminal.rows } }
  const screen: Screen = openScreen(terminal, THEMES[theme])
  let isLent = false
  let hearNoMore = hearErrors(overheard)
  // Colours for code come when they are there; nobody waits for them.
  void loadColours()

  async function loadColours(): Promise<void> {
    highlight = (await import('./view/highlight.ts')).highlight
  }

  const lookNow = (): Look & { rows: number } => ({
    width: terminal.columns,
    rows: terminal.rows,
    ...(state.root !== undefined && { root: state.root }),
    ...(!isUtf8 && { ascii: true }),
    ...(highlight && { highlight }),
  })

  function onKey(key: Key): void {
    take(press(state, key))
    clearTimeout(hold)
    if (state.held !== undefined) hold = setTimeout(() => take(settle(state)), HOLD_MS)
  }

  function take({ state: next, deeds = [] }: Pressed): void {
    state = next
    for (const deed of deeds) act(deed)
    paint()
  }

  function overheard(text: string): void {
    say(text.trim().replace(/^dragoman: /, ''), 'warn')
  }

  function paint(): void {
    clearTimeout(timer)
    // Seconds go by while the model works; otherwise nothing changes by itself.
    timer = state.running === undefined ? undefined : setTimeout(paint, TICK_MS)
    isDue = false
    if (isLent) return
    const now = Date.now()
    const { final, rest } = settled(state.conversation)
    state = { ...state, conversation: rest }
    commit(final, now)
    const { lines, cursor } = frame(state, lookNow(), now)
    screen.show(lines, cursor)
    state = withShown(state)
  }

  function commit(blocks: readonly Block[], now: number): void {
    const look = lookNow()
    screen.commit(blocks.flatMap((block) => blockLines(block, look, now)))
  }

  function say(text: string, tone: 'quiet' | 'warn' | 'bad' = 'quiet'): void {
    paint()
    screen.commit(blockLines({ kind: 'notice', text, tone }, lookNow(), 0))
  }

  paint()
  return {
    get state() {
      return state
    },
    update(change) {
      state = change(state)
      if (isDue || isClosed) return
      isDue = true
      clearTimeout(timer)
      timer = setTimeout(paint, FRAME_MS)
    },
    show() {
      if (isDue) paint()
    },
    say,
    print(lines) {
      paint()
      screen.commit(lines.flatMap((one) => wrap(one, terminal.columns, [{ text: '  ' }])))
    },
    get look() {
      return lookNow()
    },
    setTheme(name) {
      screen.setTheme(THEMES[name])
      screen.resize(terminal.columns, terminal.rows)
    },
    redraw() {
      screen.resize(terminal.columns, terminal.rows)
      screen.redraw()
    },
    async lend(use) {
      screen.close()
      isLent = true
      hearNoMore()
      try {
        return await terminal.lend(use)
      } finally {
        isLent = false
        hearNoMore = hearErrors(overheard)
        // The terminal may have got another size meanwhile.
        state = { ...state, size: { width: terminal.columns, rows: terminal.rows } }
        screen.resize(terminal.columns, terminal.rows)
        paint()
      }
    },
    close() {
      isClosed = true
      paint()
      clearTimeout(timer)
      clearTimeout(hold)
      screen.close()
      terminal.close()
      hearNoMore()
    },
  }
}
