import { type CallState, isNonZeroExit } from '../../../agent/call-state.ts'
import { isObject } from '../../../model/json.ts'
import { resultText } from '../../../model/text.ts'
import type { ResultPart } from '../../../model/turn.ts'
import type { MarkdownDisplay } from '../../../tool/define.ts'
import { visible } from '../../output/visible.ts'
import { cut, type Line, line, lineWidth, type Span, type Tone, wrap } from '../term/line.ts'
import { widthOf } from '../term/width.ts'
import { diffLines, diffSize } from './diff.ts'
import type { Look } from './look.ts'
import { markdown } from './markdown.ts'
import { pathFrom, shortPath } from './path.ts'

/** So many lines of output are shown before the rest is folded. */
const SHOWN = 8

/** A call as it is now: one line with its state, and below it what it shows. */
export function callLines(
  call: CallState,
  { look, seconds, progress, open }: { look: Look; seconds: number; progress: string; open: boolean },
): Line[] {
  const { width } = look
  const state = STATES[stateOf(call)]
  const name: Line = [
    { text: `${state.mark} `, tone: state.tone },
    { text: `${visible(call.call.name, 'file-name')} `, tone: 'strong' },
  ]
  const time = timing(call, seconds)
  const room = Math.max(width - lineWidth(name) - lineWidth(time), MIN_ROOM)
  const shownAs = 'result' in call ? documentOf(call.result) : undefined
  const about = line(shownAs ? visible(shownAs.title, 'file-name') : summary(call, open ? Infinity : room, look.root))
  const head = open
    ? wrap([...name, ...about, ...time], width, [{ text: '  ' }])
    : [[...name, ...cut(about, room), ...time]]
  const shown =
    call.status === 'executing' ? tail(progress, width) : 'result' in call ? outcome(call.result, look, open) : []
  return [...head.map((one) => cut(one, width)), ...shown.map((one): Line => [{ text: '  ' }, ...one])]
}

type Shown = 'waiting' | 'asking' | 'running' | 'done' | 'failed' | 'denied' | 'cancelled'

const STATES: Readonly<Record<Shown, { readonly mark: string; readonly tone: Tone }>> = {
  waiting: { mark: '○', tone: 'quiet' },
  asking: { mark: '?', tone: 'warn' },
  running: { mark: '●', tone: 'accent' },
  done: { mark: '✓', tone: 'good' },
  failed: { mark: '✗', tone: 'bad' },
  denied: { mark: '⊘', tone: 'warn' },
  cancelled: { mark: '⊘', tone: 'quiet' },
}

function stateOf(call: CallState): Shown {
  if (call.status === 'awaiting-approval') return 'asking'
  if (call.status === 'executing') return 'running'
  if (call.status === 'success') return isNonZeroExit(call.facts) ? 'failed' : 'done'
  if ('result' in call)
    return call.result.status === 'denied' ? 'denied' : call.status === 'error' ? 'failed' : 'cancelled'
  return 'waiting'
}

/** So many columns at least are for what a call is about, however long the name of its tool. */
const MIN_ROOM = 12

const PATHS: readonly string[] = ['absolute_path', 'file_path', 'path']
const MATTERS: readonly string[] = [
  'command',
  ...PATHS.slice(0, 2),
  'pattern',
  'path',
  'query',
  'prompt',
  'fact',
  'plan',
  'url',
]

/** What the call is about, in a few words: its path, its command, its pattern. */
function summary({ call }: CallState, room: number, root: string | undefined): string {
  const input: Readonly<Record<string, unknown>> = isObject(call.input) ? call.input : {}
  const main = MATTERS.find((key) => typeof input[key] === 'string')
  const text = main === undefined ? call.raw : String(input[main])
  const safe = (one: string): string => visible(one, 'file-name')
  if (main !== undefined && PATHS.includes(main)) return shortPath(safe(pathFrom(root, text)), room)
  const first = safe(`${text.split('\n', 1)[0] ?? ''}${text.includes('\n') ? ' …' : ''}`)
  const where = main === 'pattern' && typeof input['path'] === 'string' ? pathFrom(root, input['path']) : '.'
  return where === '.' ? first : `${first} in ${shortPath(safe(where), Math.max(room - widthOf(first) - 4, MIN_ROOM))}`
}

/** Whoever waits so many seconds for a command may wonder what it waits for. */
const OFFLINE_AFTER = 3

function timing(call: CallState, seconds: number): Span[] {
  if (call.status === 'executing' && seconds >= 1) {
    const time: Span = { text: `  ${seconds} s`, tone: 'quiet' }
    return call.isOffline && seconds >= OFFLINE_AFTER
      ? [time, { text: ', no network (sandbox)', tone: 'warn' }]
      : [time]
  }
  const state = stateOf(call)
  if (state === 'denied' || state === 'cancelled') return [{ text: `  ${state}`, tone: STATES[state].tone }]
  return 'ms' in call && call.ms >= 1000 ? [{ text: `  ${(call.ms / 1000).toFixed(1)} s`, tone: 'quiet' }] : []
}

/** The last lines of what comes in. */
export function tail(progress: string, width: number): Line[] {
  const rows = progress
    .trimEnd()
    .split('\n')
    .filter((row) => row !== '')
  return rows.slice(-SHOWN).map((row) => cut(line(row, 'quiet'), width - 2))
}

/** A result that is a document: it is shown whole, as such. */
function documentOf({ display }: ResultPart): MarkdownDisplay | undefined {
  if (!isObject(display)) return undefined
  const { title, markdown: text } = display
  return typeof title === 'string' && typeof text === 'string' ? { title, markdown: text } : undefined
}

function outcome(result: ResultPart, look: Look, open: boolean): Line[] {
  const { width } = look
  const { display } = result
  const shownAs = documentOf(result)
  if (shownAs) return markdown(visible(shownAs.markdown), { ...look, width: width - 2 })
  const diff = isObject(display) && typeof display['fileDiff'] === 'string' ? display['fileDiff'] : undefined
  if (diff !== undefined) {
    const { added, removed } = diffSize(diff)
    const head = line(`+${added} −${removed}`, 'quiet')
    return [head, ...folded(diffLines(visible(diff, 'diff'), width - 2), open ? Infinity : 40)]
  }
  const text = typeof display === 'string' ? display : resultText(result)
  const tone = result.status === 'error' ? 'bad' : 'quiet'
  const rows = visible(text.replace(/^\n+/, '').trimEnd(), 'tool-output').split('\n')
  // Output is cut, a table stays a table; a message that says why nothing was done is read to its end.
  const isWhole = open || result.status !== 'ok'
  const lines = rows.flatMap((row) => (isWhole ? wrap(line(row, tone), width - 2) : [cut(line(row, tone), width - 2)]))
  return folded(text.trim() === '' ? [] : lines, open ? Infinity : SHOWN)
}

/** Long things show their beginning and their end. */
function folded(lines: readonly Line[], most: number): Line[] {
  if (lines.length <= most) return [...lines]
  const head = Math.ceil(most / 2)
  const foot = Math.floor(most / 2) - 1
  const hidden = lines.length - head - foot
  return [
    ...lines.slice(0, head),
    line(`… ${hidden} more lines (Ctrl-O shows them)`, 'quiet'),
    ...lines.slice(lines.length - foot),
  ]
}
