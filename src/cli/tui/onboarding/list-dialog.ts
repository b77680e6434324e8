import { looksLikeApiKey } from './api-key-format.ts'
import type { KeyEvent } from '../term/key-parser.ts'
import { clipLine, type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import { openScreen } from '../term/screen.ts'
import { openTerminal } from '../term/terminal.ts'
import { THEMES, type ThemeName } from '../term/theme.ts'
import { displayWidth } from '../term/display-width.ts'

export interface ListItem<T> {
  readonly value: T
  readonly label: string
  readonly about?: string
}

/** Shows a page with a list; returns the chosen value, or undefined if the user left. An API key may be pasted instead. */
export function chooseFromList<T>(
  page: readonly StyledLine[],
  choices: readonly ListItem<T>[],
  theme: ThemeName,
  fromKey?: (key: string) => T,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    let at = 0
    let wanted = ''
    const terminal = openTerminal(process.stdin, process.stdout, {
      key: onKey,
      resize: (columns, rows) => screen.resize(columns, rows),
    })
    const screen = openScreen(terminal, THEMES[theme])

    // A list that is too long for numbers is filtered by typing.
    const isLong = choices.length > 9
    const filteredChoices = (): readonly ListItem<T>[] =>
      isLong
        ? choices.filter(({ label, about = '' }) => `${label} ${about}`.toLowerCase().includes(wanted.toLowerCase()))
        : choices

    function show(): void {
      const { columns: width, rows } = terminal
      screen.show(renderChoiceList(filteredChoices(), { selected: at, filter: wanted, isLong, width, rows }))
    }

    function end(value: T | undefined): void {
      screen.close()
      terminal.close()
      resolve(value)
    }

    function onKey(key: KeyEvent): void {
      const count = filteredChoices().length
      // A digit after other characters belongs to a name or a key.
      const chosen = key.type === 'text' && !isLong && wanted === '' ? choices[Number(key.text) - 1] : undefined
      if (chosen) return end(chosen.value)
      // Where nothing can be typed, a stray letter must not keep the next digit from choosing.
      if (key.type === 'text' && (isLong || fromKey)) [wanted, at] = [wanted + key.text, 0]
      if (key.type === 'paste' && fromKey && looksLikeApiKey(key.text)) return end(fromKey(key.text.trim()))
      if (key.type === 'key' && key.name === 'enter' && fromKey && looksLikeApiKey(wanted))
        return end(fromKey(wanted.trim()))
      if (key.type === 'key') {
        if (key.name === 'enter') return count > 0 ? end(filteredChoices()[at]?.value) : undefined
        if (key.name === 'escape' || (key.ctrl && (key.name === 'c' || key.name === 'd'))) return end(undefined)
        if (key.name === 'backspace') [wanted, at] = [wanted.slice(0, -1), 0]
        if (key.name === 'up') at = (at + count - 1) % Math.max(count, 1)
        if (key.name === 'down' || key.name === 'tab') at = (at + 1) % Math.max(count, 1)
      }
      show()
    }

    screen.commit(page.flatMap((one) => wrapLine(one, terminal.columns)))
    show()
  })
}

type ListState = Readonly<{ selected: number; filter: string; isLong: boolean; width: number; rows: number }>

/** The list as lines; of a list that is longer than the terminal, the part around the selected item. */
export function renderChoiceList(
  choices: readonly Pick<ListItem<unknown>, 'label' | 'about'>[],
  { selected, filter, isLong, width, rows }: ListState,
): StyledLine[] {
  const room = Math.max(rows - 4, 3)
  const top = isLong ? Math.max(Math.min(selected - Math.floor(room / 2), choices.length - room), 0) : 0
  const longest = Math.max(...choices.map(({ label }) => displayWidth(label)), 0)
  const lines = choices
    .slice(top, isLong ? top + room : undefined)
    .flatMap(({ label, about = '' }, place): StyledLine[] => {
      const isChosen = top + place === selected
      const row: StyledLine = [
        { text: isChosen ? '› ' : '  ', tone: 'accent' },
        { text: `${isLong ? '' : `${place + 1}. `}${label}`, tone: isChosen ? 'strong' : 'plain' },
        { text: about === '' ? '' : ' '.repeat(longest - displayWidth(label) + 2) + about, tone: 'quiet' },
      ]
      return isLong ? [clipLine(row, width)] : wrapLine(row, width, [{ text: '     ' }])
    })
  if (looksLikeApiKey(filter))
    return [
      ...lines,
      clipLine(styledLine(`Key entered (${filter.length} characters, hidden). Press Enter to use it.`, 'quiet'), width),
    ]
  if (!isLong) return lines
  const none = choices.length === 0 ? [styledLine('  no match', 'warn')] : []
  const typed =
    filter === ''
      ? 'Type to filter; ↑ ↓ move, Enter selects, Esc goes back.'
      : `Filter: ${choices.length === 0 ? '•'.repeat(filter.length) : filter}`
  return [...lines, ...none, styledLine(typed, 'quiet')]
}
