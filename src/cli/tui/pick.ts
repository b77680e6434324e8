import type { Key } from './term/keys.ts'
import { type Line, wrap } from './term/line.ts'
import { openScreen } from './term/screen.ts'
import { openTerminal } from './term/terminal.ts'
import { THEMES, type ThemeName } from './term/theme.ts'

/** Something to choose. */
export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly about?: string
}

/** Shows a page with a few ways on, and gives the one that the person chose; nothing if they left. */
export function pick<T>(
  page: readonly Line[],
  choices: readonly Choice<T>[],
  theme: ThemeName,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    let at = 0
    const terminal = openTerminal(process.stdin, process.stdout, {
      key: onKey,
      resize: (columns, rows) => screen.resize(columns, rows),
    })
    const screen = openScreen(terminal, THEMES[theme])

    function show(): void {
      screen.show(choices.flatMap((choice, place) => choiceLines(choice, place + 1, place === at, terminal.columns)))
    }

    function end(value: T | undefined): void {
      screen.close()
      terminal.close()
      resolve(value)
    }

    function onKey(key: Key): void {
      if (key.type === 'text') {
        const chosen = choices[Number(key.text) - 1]
        if (chosen) end(chosen.value)
      } else if (key.type === 'key') {
        if (key.name === 'enter') return end(choices[at]?.value)
        if (key.name === 'escape' || (key.ctrl && (key.name === 'c' || key.name === 'd'))) return end(undefined)
        if (key.name === 'up') at = (at + choices.length - 1) % choices.length
        if (key.name === 'down' || key.name === 'tab') at = (at + 1) % choices.length
        show()
      }
    }

    screen.commit(page.flatMap((one) => wrap(one, terminal.columns)))
    show()
  })
}

function choiceLines<T>({ label, about = '' }: Choice<T>, number: number, isChosen: boolean, width: number): Line[] {
  return wrap(
    [
      { text: isChosen ? '› ' : '  ', tone: 'accent' },
      { text: `${number}. ${label}`, tone: isChosen ? 'strong' : 'plain' },
      { text: about === '' ? '' : `  ${about}`, tone: 'quiet' },
    ],
    width,
    [{ text: '     ' }],
  )
}
