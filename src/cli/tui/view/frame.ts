import { bounded } from '../../output/bounded.ts'
import { visible } from '../../output/visible.ts'
import { spoken } from '../../../provider/trouble.ts'
import type { Block, Conversation } from '../conversation.ts'
import { searchLine } from '../input/search.ts'
import type { State } from '../state.ts'
import { cut, type Line, line, wrap } from '../term/line.ts'
import { askLines, askRoom, draftLines } from './ask.ts'
import { callLines, tail } from './call.ts'
import { editorLines, menuLines, type Placed, queuedLines } from './input.ts'
import { type Look, READABLE } from './look.ts'
import { markdown } from './markdown.ts'
import { inOneRow } from './shorten.ts'
import { statusLine } from './status.ts'

/** The live part of the screen: what may still change, the question or the input, and the status. */
export function frame(state: State, look: Look & { readonly rows: number }, now: number): Placed {
  const { width } = look
  // A call that is asked about stands in the question.
  const shown = state.conversation.live.filter(
    (block) => !(block.kind === 'call' && block.call.status === 'awaiting-approval' && state.asks.length > 0),
  )
  const live = shown.flatMap((block) => blockLines(block, look, now))
  const working = workingLine(state, now)
  const above = [...live, ...working, ...queuedLines(state, width)]
  const status = statusLine(state.status, width)
  if (state.asks.length > 0) {
    const ask = askLines(state.asks, state.asking, askRoom(state, look))
    const draft = draftLines(state, look)
    if (draft.cursor) return placed([...above, [], ...ask.lines], draft, [...menuLines(state, width), status])
    return placed([...above, []], ask, [...draft.lines, status])
  }
  const mark = state.vim === 'normal' ? ': ' : '> '
  const input = editorLines(state.editor, { width, mark })
  const words = state.search ? visible(searchLine(state.search)) : state.hint
  const hint = words === undefined ? [] : [cut(line(words, 'quiet'), width)]
  return placed([...above, []], input, [...menuLines(state, width), ...hint, status])
}

/** A block as it stands above, for good; or as far as it has come. */
export function blockLines(block: Block, look: Look, now: number): Line[] {
  const lines = inner(block, look, now)
  return lines.length > 0 ? [[], ...lines] : lines
}

function inner(block: Block, look: Look, now: number): Line[] {
  const { width } = look
  switch (block.kind) {
    case 'user':
      return userLines(block.text, width)
    case 'text':
      return markdown(visible(block.text), isLongAndLive(block) ? { width } : look)
    case 'own':
      return ownLines(block, width, now)
    case 'thought':
      return thought(block, width)
    case 'call':
      return callLines(block.call, {
        look,
        seconds: Math.floor((now - block.since) / 1000),
        progress: visible(block.progress, 'tool-output'),
        open: false,
      })
    default:
      return bounded(visible(block.text))
        .split('\n')
        .flatMap((one) => wrap(line(one, block.tone), Math.min(width, READABLE)))
  }
}

/** So many rows of what a person said are shown again; they know the rest, which they pasted. */
const SAID = 12

function userLines(text: string, width: number): Line[] {
  const said = text.split('\n')
  // No line needs less than a row.
  const rows = visible(said.slice(0, SAID + 1).join('\n'))
    .split('\n')
    .flatMap((one, at) =>
      wrap(
        [
          { text: at === 0 ? '> ' : '  ', tone: 'user' },
          { text: one, tone: 'user' },
        ],
        width,
        [{ text: '  ' }],
      ),
    )
  const all = rows.length + Math.max(said.length - SAID - 1, 0)
  if (all <= SAID) return rows
  const head = rows.slice(0, SAID - 4)
  return [...head, line(`  … ${all - head.length} more lines`, 'quiet')]
}

/** A person's own command: its last lines while it runs, and all of them when it has ended. */
function ownLines(
  { command, output, since, end }: Extract<Block, { kind: 'own' }>,
  width: number,
  now: number,
): Line[] {
  const seconds = end === undefined ? Math.floor((now - since) / 1000) : 0
  const head: Line = [
    { text: `! ${inOneRow(visible(command), width - 10)}`, tone: 'user' },
    { text: seconds >= 1 ? `  ${seconds} s` : '', tone: 'quiet' },
  ]
  if (end === undefined) return [head, ...tail(visible(output, 'tool-output'), width)]
  const shown = visible(output.trimEnd(), 'tool-output')
  const rows = shown === '' ? [] : shown.split('\n')
  const last = end === '' ? [] : [line(visible(end), 'warn')]
  return [head, ...rows.flatMap((row) => wrap(line(row), width, [{ text: '  ' }])), ...last]
}

/** Code that is still coming in would be coloured anew at every frame; once it is whole, it is coloured once. */
function isLongAndLive({ text, done }: Extract<Block, { kind: 'text' }>): boolean {
  return !done && text.length > 4000
}

/** Thoughts are folded: their subject, or their last line while they come. */
function thought({ text, done, ms }: Extract<Block, { kind: 'thought' }>, width: number): Line[] {
  const subject = [...text.matchAll(/\*\*(.+?)\*\*/g)].at(-1)?.[1]
  const rows = text.split('\n').filter((one) => one.trim() !== '')
  const shown = subject ?? (done ? rows[0] : rows.at(-1)) ?? ''
  if (done && shown === '') return []
  const time = done && ms >= 1000 ? ` (${Math.round(ms / 1000)} s)` : ''
  return [
    cut(
      [
        { text: '✻ ', tone: 'quiet' },
        { text: visible(shown.trim()), tone: 'quiet' },
        { text: time, tone: 'quiet' },
      ],
      width,
    ),
  ]
}

function workingLine({ running, asks, conversation }: State, now: number): Line[] {
  if (running === undefined || asks.length > 0) return []
  const seconds = Math.floor((now - running) / 1000)
  // Nobody reads what is typed while a command of the person's own runs.
  const isOwn = conversation.live.some(({ kind }) => kind === 'own')
  const frameMark = MARKS[Math.floor(now / 250) % MARKS.length] ?? ''
  return [
    [],
    [
      { text: `${frameMark} `, tone: 'accent' },
      {
        text: `working ${seconds} s${waitingFor(conversation, now)} · Esc stops${isOwn ? '' : ', typing queues'}`,
        tone: 'quiet',
      },
    ],
  ]
}

/** A long wait says whom it is for, and when it will be over. */
function waitingFor({ waiting }: Conversation, now: number): string {
  if (!waiting) return ''
  return ` · waiting for ${visible(waiting.host)} ${spoken(now - waiting.since)}, gives up after ${spoken(waiting.limit)}`
}

const MARKS = ['◐', '◓', '◑', '◒']

function placed(above: readonly Line[], middle: Placed, below: readonly Line[]): Placed {
  return {
    lines: [...above, ...middle.lines, ...below],
    ...(middle.cursor && { cursor: { row: above.length + middle.cursor.row, column: middle.cursor.column } }),
  }
}
