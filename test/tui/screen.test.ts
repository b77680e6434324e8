import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import xterm from '@xterm/headless'
import * as fc from 'fast-check'
import { styledLine, type StyledLine, lineText, wrapLine } from '../../src/cli/tui/term/styled-line.ts'
import { openScreen } from '../../src/cli/tui/term/screen.ts'
import { THEMES } from '../../src/cli/tui/term/theme.ts'
import { displayWidth } from '../../src/cli/tui/term/display-width.ts'

/** A real terminal without a window, and a screen on it. */
function stage(columns = 40, rows = 10) {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 5000 })
  const written: string[] = []
  const screen = openScreen(
    {
      columns,
      rows,
      write: (text) => {
        written.push(text)
        terminal.write(text)
      },
    },
    THEMES.dark,
  )
  const settle = () => new Promise<void>((resolve) => terminal.write('', resolve))
  const text = async () => {
    await settle()
    const buffer = terminal.buffer.active
    const lines = Array.from(
      { length: buffer.length },
      (_unused, at) => buffer.getLine(at)?.translateToString(true).trimEnd() ?? '',
    )
    return lines.slice(0, lines.findLastIndex((one) => one !== '') + 1)
  }
  return { screen, terminal, text, written, settle }
}

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

const lines = (...texts: string[]): StyledLine[] => texts.map((text) => styledLine(text))

describe('the screen', () => {
  test('what is committed stands above what is live, whatever changes below', async () => {
    const { screen, text } = stage()
    screen.show(lines('> ', 'status'), { row: 0, column: 2 })
    screen.commit(lines('one', 'two'))
    screen.show(lines('> hello', 'more', 'status'), { row: 0, column: 7 })
    screen.commit(lines('three'))
    screen.show(lines('> ', 'status'), { row: 0, column: 2 })
    assert.deepEqual(await text(), ['one', 'two', 'three', '>', 'status'])
  })

  test('only cells that changed are written', () => {
    const { screen, written } = stage()
    screen.show(lines('a long line that stays', 'working 1 s', 'the last line'))
    written.length = 0
    screen.show(lines('a long line that stays', 'working 2 s', 'the last line'))
    const visible = written
      .join('')
      .replace(/\u001B\[[?0-9;]*[a-zA-Z]/g, '')
      .trim()
    assert.equal(visible, '2')
    written.length = 0
    screen.show(lines('a long line that stays', 'working 2 s', 'the last line'))
    assert.equal(written.join(''), '')
  })

  test('a live part that is higher than the terminal shows its end, and scrolls nothing away twice', async () => {
    const { screen, text } = stage(20, 6)
    const many = Array.from({ length: 30 }, (_unused, at) => styledLine(`row ${at}`))
    for (let count = 1; count <= 30; count++) screen.show(many.slice(0, count))
    assert.deepEqual(await text(), ['row 25', 'row 26', 'row 27', 'row 28', 'row 29'])
  })

  test('narrower and wider again: the live part is there once', async () => {
    const { screen, terminal, text, settle } = stage(40, 12)
    screen.commit(lines('history'))
    screen.show(lines('x'.repeat(30), 'status line of some length'), { row: 0, column: 30 })
    await settle()
    for (const columns of [20, 60, 25]) {
      terminal.resize(columns, 12)
      screen.resize(columns, 12)
      screen.show(lines('x'.repeat(Math.min(30, columns)), 'status'), { row: 0, column: 5 })
      await settle()
    }
    const shown = await text()
    assert.deepEqual(shown.slice(-2), ['x'.repeat(25), 'status'])
    assert.equal(shown[0], 'history')
    assert.equal(shown.filter((one) => one.startsWith('status')).length, 1)
  })

  test('closing takes the live part away and shows the cursor', async () => {
    const { screen, text, written } = stage()
    screen.commit(lines('kept'))
    screen.show(lines('gone', 'gone too'))
    screen.close()
    assert.deepEqual(await text(), ['kept'])
    assert.match(written.join(''), /\u001B\[\?25h$/)
  })

  test('any sequence of commits and repaints leaves what it should', async () => {
    const word = fc.constantFrom('a', 'bb', '語', '👩‍👩‍👧', 'é', ' ', 'longer word', '…', '')
    const row = fc.array(word, { maxLength: 5 }).map((words) => styledLine(words.join('')))
    const step = fc.record({ commit: fc.array(row, { maxLength: 4 }), show: fc.array(row, { maxLength: 9 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { screen, text } = stage(60, 10)
        const committed: string[] = []
        let live: string[] = []
        for (const { commit, show } of steps) {
          screen.commit(commit)
          committed.push(...commit.map(lineText))
          screen.show(show)
          live = show.map(lineText)
        }
        const wanted = [...committed, ...live].map((one) => one.trimEnd())
        const end = wanted.findLastIndex((one) => one !== '')
        assert.deepEqual(await text(), wanted.slice(0, end + 1))
      }),
      { numRuns: 300, seed: SEED },
    )
  })
})

describe('lines', () => {
  test('are broken at spaces, keep every word, and fit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('word', '語語', 'a', 'averylongwordwithoutanyspace'), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 8, max: 40 }),
        (words, width) => {
          const text = words.join(' ')
          const broken = wrapLine(styledLine(text), width)
          for (const one of broken) assert.ok(displayWidth(lineText(one)) <= width, lineText(one))
          assert.equal(broken.map(lineText).join('').replaceAll(' ', ''), text.replaceAll(' ', ''))
        },
      ),
      { numRuns: 500, seed: SEED },
    )
  })
})
