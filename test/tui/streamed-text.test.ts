import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import {
  applyRunEvent,
  EMPTY_LIVE_CONVERSATION,
  takeBlocksForScrollback,
} from '../../src/cli/tui/conversation-state.ts'
import type { StyledLine } from '../../src/cli/tui/term/styled-line.ts'
import { highlightCode } from '../../src/cli/tui/view/highlight.ts'
import { renderBlock } from '../../src/cli/tui/view/live-screen.ts'
import type { TurnEvent } from '../../src/model/event.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)
const LOOK = { width: 60, rows: 20, highlight: highlightCode }

/** The lines in the scrollback after a text that came in these pieces, with a frame after each. */
function stream(pieces: readonly string[]): string[] {
  const lines: StyledLine[] = []
  let conversation = EMPTY_LIVE_CONVERSATION
  const take = (event: TurnEvent): void => {
    const next = takeBlocksForScrollback(applyRunEvent(conversation, { type: 'turn', event }, 0))
    conversation = next.rest
    lines.push(...next.final.flatMap((block) => renderBlock(block, LOOK, 0)))
    for (const block of next.rest.live) renderBlock(block, LOOK, 0)
  }
  take({ type: 'part-open', index: 0, kind: 'text' })
  for (const text of pieces) take({ type: 'part-delta', index: 0, kind: 'text', text })
  take({ type: 'part-close', index: 0, part: { kind: 'text', text: pieces.join('') } })
  take({ type: 'finish', reason: 'stop' })
  assert.deepEqual(conversation.live, [])
  return toText(lines)
}

function showWhole(text: string): string[] {
  return toText(renderBlock({ kind: 'text', text, done: true }, LOOK, 0))
}

/** Each character with its tone: how the spans are divided does not matter. */
function toText(lines: readonly StyledLine[]): string[] {
  return lines.map((one) =>
    one
      .flatMap(({ text, tone = 'plain' }) =>
        Array.from(text, (char) => `${char}${tone === 'plain' ? '' : `<${tone}>`}`),
      )
      .join(''),
  )
}

function cut(text: string, lengths: readonly number[]): string[] {
  const pieces: string[] = []
  let at = 0
  for (let turn = 0; at < text.length; turn++) {
    const next = at + (lengths[turn % lengths.length] ?? 1)
    pieces.push(text.slice(at, next))
    at = next
  }
  return pieces
}

const LINES = [
  'Some words of prose.',
  'More *words*, `code` and **strong ones**,',
  'with a link: https://example.com/x',
  '(in brackets)',

  '# Heading',
  '## Another',
  '===',
  '---',
  '***',
  '- item',
  '  more of the item',
  '- [x] task',
  '* other',
  '1. one',
  '2. two',
  '   1. inner',

  '> quoted',
  '> - in a quote',
  '```',
  '```ts',
  '~~~',
  '````',
  'const a = 1 // one',
  '\n    indented',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',

  '<div>',
  '</div>',
  '<!-- hidden',
  '-->',
  '```inline``` code',
  '語 and 👩‍👩‍👧',
  '',
  '',
  '',
  '  ',
  'trailing blanks  ',
  '\\',
  '2026. A year',
  '1.',
]
const document = fc
  .array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 25 })
  .chain((lines) => fc.constantFrom('', '\n').map((end) => lines.join('\n') + end))
const lengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 })

describe('text that comes in pieces', () => {
  test('ends as the same lines, whatever the pieces are', () => {
    fc.assert(
      fc.property(document, lengths, (text, sizes) => {
        assert.deepEqual(stream(cut(text, sizes)), stream([text]))
        assert.deepEqual(stream([text]), showWhole(text))
      }),
      { numRuns: 500, seed: SEED },
    )
  })

  const code = (count: number, language: string): string =>
    `Before.\n\n\`\`\`${language}\n${Array.from({ length: count }, (_unused, at) => `const v${at} = "text" // ${at}\n`).join('')}\`\`\`\n\nAfter.\n`
  const prose = Array.from({ length: 300 }, (_unused, at) => `Line ${at} of a paragraph with *some* words\n`).join('')

  for (const [name, text] of [
    ['highlighted code', code(400, 'ts')],
    ['code that is too long to be highlighted', code(2000, 'ts')],
    [
      'code with blank lines that never ends',
      code(2000, '')
        .replaceAll(' // 7', '\n\n')
        .replace(/```\n\nAfter.\n$/, ''),
    ],
    ['code with Windows line ends', code(2000, 'ts').replaceAll('\n', '\r\n')],
    ['a long paragraph', `${prose}\nThe next one.`],
    ['a long list', Array.from({ length: 400 }, (_unused, at) => `${at + 1}. item ${at}\n`).join('')],
  ] as const)
    test(`also if it is long: ${name}`, () => {
      for (const sizes of [[7], [1000, 3], [40_000]]) assert.deepEqual(stream(cut(text, sizes)), showWhole(text))
    })
})
