import { Lexer } from 'marked'

/** Longer code is not highlighted, because that would block the screen: its complete lines are final at once. */
export const MAX_HIGHLIGHTED_CHARS = 20_000

/** A longer paragraph would be laid out again with each piece of text: its complete lines are final. */
const MAX_PARAGRAPH_CHARS = 4000

/** Markdown that is a whole number of blocks, or a part of a long block: its first one, or one that continues it. */
export interface MarkdownText {
  readonly text: string
  readonly part?: 'first' | 'next'
}

/**
 * Takes the blocks off a growing text that can no longer change. The result does not depend on the pieces in which the
 * text arrives: only complete lines count.
 */
export function takeFinalMarkdown(whole: MarkdownText): { final: MarkdownText[]; rest: MarkdownText } {
  const final: MarkdownText[] = []
  let rest = whole
  for (;;) {
    const { text } = rest
    let start = matchAt(BLANK_LINES, text, 0) ?? 0
    const ends = findParagraphEnd(text, start) ?? findCodeEnd(text, start) ?? findOtherEnds(text, start)
    if (ends.length === 0) return { final, rest }
    let { part } = rest
    for (const end of ends) {
      if (end.cutWith !== undefined) part ??= 'first'
      final.push({ text: text.slice(start, end.at), ...(part && { part }) })
      start = end.at
      part = undefined
    }
    const cutWith = ends.at(-1)?.cutWith
    rest =
      cutWith === undefined
        ? { text: text.slice(matchAt(BLANK_LINES, text, start) ?? start) }
        : { text: cutWith + text.slice(start), part: 'next' }
  }
}

/** Where a final block ends. If its end is a cut, the next part of the block begins with the text `cutWith`. */
interface BlockEnd {
  readonly at: number
  readonly cutWith?: string
}

const BLANK_LINES = /(?:[ \t\r]*\n)+/y
const LETTER = String.raw`[A-Za-z\u00C0-\u024F\u0370-\u03FF\u0400-\u04FF\u3041-\u30FF\u4E00-\u9FFF\uAC00-\uD7A3]`
const LETTER_LINES = new RegExp(String.raw`(?:${LETTER}[^\n]*\n)+`, 'y')
const PLAIN_PARAGRAPH = new RegExp(String.raw`^(?:${LETTER}[^\n]*\n)*${LETTER}[^\n]*\n?$`)

/** Lines that begin with letters are a paragraph, whatever they contain. */
export function isPlainParagraph(text: string): boolean {
  return PLAIN_PARAGRAPH.test(text)
}

/** The end of a plain paragraph; none if it may go on; undefined if the block is of another kind. */
function findParagraphEnd(text: string, start: number): BlockEnd[] | undefined {
  const end = matchAt(LETTER_LINES, text, start)
  if (end === undefined) return undefined
  const cut = findParagraphCut(text, start, end)
  if (cut) return [cut]
  if (matchAt(BLANK_LINES, text, end) !== undefined) return [{ at: end }]
  return text.indexOf('\n', end) < 0 ? [] : undefined
}

function findParagraphCut(text: string, start: number, end: number): BlockEnd | undefined {
  if (end - start <= MAX_PARAGRAPH_CHARS) return undefined
  const at = text.indexOf('\n', start + MAX_PARAGRAPH_CHARS) + 1
  return at > 0 && at < end ? { at, cutWith: '' } : undefined
}

const FENCE = /(`{3,}|~{3,})[^`\n]*\n/y
const CLOSING_FENCE = /\n {0,3}(`{3,}|~{3,})[~`]* *\n/g

/** The same for code between fences. */
function findCodeEnd(text: string, start: number): BlockEnd[] | undefined {
  const open = matchAt(FENCE, text, start)
  if (open === undefined) return undefined
  const fence = readFence(text, start)
  CLOSING_FENCE.lastIndex = open - 1
  for (let found = CLOSING_FENCE.exec(text); found; found = CLOSING_FENCE.exec(text)) {
    if (found[1]?.startsWith(fence)) return [{ at: CLOSING_FENCE.lastIndex }]
    CLOSING_FENCE.lastIndex--
  }
  const at = text.lastIndexOf('\n') + 1
  const isLong = at - open > MAX_HIGHLIGHTED_CHARS && countCodeChars(text.slice(open, at)) > MAX_HIGHLIGHTED_CHARS
  return isLong ? [{ at, cutWith: text.slice(start, open) }] : []
}

function countCodeChars(code: string): number {
  return code.trimEnd().replaceAll('\r\n', '\n').length
}

/** The ends of all blocks but the last, which may go on. */
function findOtherEnds(text: string, start: number): BlockEnd[] {
  const complete = text.lastIndexOf('\n') + 1
  if (complete <= start || isListOrTable(text, start, complete)) return []
  const tokens = new Lexer().blockTokens(text.slice(start, complete))
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  const ends: BlockEnd[] = []
  let at = start
  for (const [index, { type, raw }] of tokens.entries()) {
    const from = at
    at += raw.length
    const cut = type === 'paragraph' ? findParagraphCut(text, from, at) : undefined
    if (cut) return [...ends, cut]
    // An underline after HTML would make a heading of both.
    const isBeforeHtml = type === 'paragraph' && index + 1 === last && tokens[last]?.type === 'html'
    if (index >= last || isBeforeHtml) break
    if (type !== 'space') ends.push({ at })
  }
  return ends
}

const BLOCK_MARK = /[|*+-]|\d{1,9}[.)]/y
const listLines = (mark: string, indent: number): RegExp =>
  new RegExp(
    String.raw`(?:${mark} (?![-*_ ]+\n)\S[^\n]*\n| {${indent},}\S[^\n]*\n${indent === 2 ? String.raw`|\n` : ''})*`,
    'y',
  )

/** The lines of a table or a list, by the last character of its mark. */
const BLOCK_LINES: Readonly<Record<string, RegExp>> = {
  '|': /(?:\|[^\n]*\n)*/y,
  '-': listLines('-', 2),
  '*': listLines(String.raw`\*`, 2),
  '+': listLines(String.raw`\+`, 2),
  '.': listLines(String.raw`\d{1,9}\.`, 3),
  ')': listLines(String.raw`\d{1,9}\)`, 3),
}

/** The lines of the last open list or table: it is looked at with every frame, and only its new lines are read. */
let readLines = ''

/** Are all lines those of a table or a list? Its end is then not in sight, and lexing it again can wait. */
function isListOrTable(text: string, start: number, end: number): boolean {
  const mark = matchAt(BLOCK_MARK, text, start)
  const pattern = mark === undefined ? undefined : BLOCK_LINES[text[mark - 1] ?? '']
  if (!pattern) return false
  // Comparing strings is faster than startsWith().
  const known = start + readLines.length
  const from = text.slice(start, known) === readLines ? known : start
  if (matchAt(pattern, text, from) !== end) return false
  readLines = text.slice(start, end)
  return true
}

/** A shorter list or table with the last lines of one that is still coming in; undefined for other text. */
export function takeBlockTail(text: string, rows: number): string | undefined {
  const start = matchAt(BLANK_LINES, text, 0) ?? 0
  if (!isListOrTable(text, start, text.lastIndexOf('\n') + 1)) return undefined
  let from = findLastLines(text, rows, start)
  if (text[start] === '|') {
    const body = text.indexOf('\n', text.indexOf('\n', start) + 1) + 1
    return from <= body ? undefined : text.slice(start, body) + text.slice(from)
  }
  while (from > start && /[\s]/.test(text[from] ?? '')) from = text.lastIndexOf('\n', from - 2) + 1
  return text.slice(from)
}

/** Where the last lines begin. */
function findLastLines(text: string, rows: number, start: number): number {
  let from = text.length
  for (let row = 0; row <= rows && from > start; row++) from = text.lastIndexOf('\n', from - 1)
  return Math.max(from + 1, start)
}

/** Where a match that begins at an index ends. */
function matchAt(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** The last lines of code that is still coming in; undefined for other text. */
export function takeCodeTail(text: string, rows: number): string[] | undefined {
  const start = matchAt(BLANK_LINES, text, 0) ?? 0
  const open = matchAt(FENCE, text, start)
  if (open === undefined || findCodeEnd(text, start)?.length !== 0) return undefined
  const lines = text.slice(findLastLines(text, rows, open)).split('\n')
  const last = lines.at(-1) ?? ''
  const isClosing = /^ {0,3}[~`]+ *$/.test(last) && last.trimStart().startsWith(readFence(text, start))
  return isClosing || last === '' ? lines.slice(0, -1) : lines
}

/** The last part of long code may be its closing fence only. */
export function isEmptyCode(text: string): boolean {
  return /^(?:`{3,}|~{3,})[^`\n]*\n(?: {0,3}[~`]+ *\n?)?$/.test(text)
}

function readFence(text: string, start: number): string {
  return text.slice(start, matchAt(FENCE_CHARS, text, start))
}

const FENCE_CHARS = /`+|~+/y
