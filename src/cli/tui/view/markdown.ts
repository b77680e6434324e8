import { lexer, Lexer, type Token, type Tokens } from 'marked'
import {
  appendText,
  clipLine,
  type StyledLine,
  styledLine,
  lineWidth,
  type StyledSpan,
  type TextTone,
  wrapLine,
} from '../term/styled-line.ts'
import { isPlainParagraph } from './markdown-stream.ts'
import { renderSimpleInline } from './simple-inline.ts'
import { type ViewOptions, MAX_TEXT_COLUMNS } from './view-options.ts'

/** The text must not contain control characters. */
export function renderMarkdown(text: string, viewOptions: ViewOptions): StyledLine[] {
  const width = Math.min(viewOptions.width, MAX_TEXT_COLUMNS)
  // The rules for blocks are many, and most blocks are paragraphs.
  if (isPlainParagraph(text)) return wrapSpans(renderPlainParagraph(text.replace(/\n$/, '')), width)
  return renderBlocks(lexer(text), { ...viewOptions, width })
}

function renderPlainParagraph(text: string): StyledSpan[] {
  return renderSimpleInline(text) ?? renderInline(Lexer.lexInline(text))
}

/** Lines of code, each at most `width` wide. */
export function renderCodeLines(lines: readonly StyledLine[], width: number): StyledLine[] {
  return lines.flatMap((one) => wrapLine([{ text: '  ' }, ...one], Math.min(width, MAX_TEXT_COLUMNS), [{ text: '  ' }]))
}

const QUOTE_BAR: StyledSpan = { text: '│ ', tone: 'quiet' }

function renderBlocks(tokens: readonly Token[], viewOptions: ViewOptions): StyledLine[] {
  const out: StyledLine[] = []
  for (const token of tokens) {
    // The box of a task is drawn with its list item.
    if (token.type === 'space' || token.type === 'def' || token.type === 'checkbox') continue
    if (out.length > 0) out.push([])
    out.push(...renderMarkdownBlock(token, viewOptions))
  }
  return out
}

function renderMarkdownBlock(token: Token, viewOptions: ViewOptions): StyledLine[] {
  const { width } = viewOptions
  switch (token.type) {
    case 'heading':
      return wrapSpans(renderInline(token.tokens ?? [], 'heading'), width)
    case 'code':
      return renderCode(token as Tokens.Code, viewOptions)
    case 'blockquote':
      return renderBlocks(token.tokens ?? [], { ...viewOptions, width: width - 2 }).map((one) => [QUOTE_BAR, ...one])
    case 'list':
      return renderList(token as Tokens.List, viewOptions)
    case 'table':
      return renderTable(token as Tokens.Table, width)
    case 'hr':
      return [styledLine('─'.repeat(Math.min(width, 40)), 'quiet')]
    case 'html':
      return token.raw
        .trimEnd()
        .split('\n')
        .flatMap((one) => wrapLine(styledLine(one, 'quiet'), width))
    default:
      return wrapSpans(renderInline('tokens' in token && token.tokens ? token.tokens : [token]), width)
  }
}

/** Inline spans; line breaks are '\n'. */
function renderInline(tokens: readonly Token[], tone?: TextTone): StyledSpan[] {
  return tokens.flatMap((token): StyledSpan[] => {
    switch (token.type) {
      case 'strong':
        return renderInline(token.tokens ?? [], tone ?? 'strong')
      case 'em':
        return renderInline(token.tokens ?? [], tone ?? 'emphasis')
      case 'del':
        return renderInline(token.tokens ?? [], 'quiet')
      case 'codespan':
        return [{ text: token.text as string, tone: 'code' }]
      case 'link':
        return renderLink(token as Tokens.Link, tone)
      case 'image':
        return [{ text: `[image: ${(token as Tokens.Image).text}]`, tone: 'quiet' }]
      case 'br':
        return [{ text: '\n' }]
      case 'checkbox':
        return []
      default:
        if ('tokens' in token && token.tokens) return renderInline(token.tokens, tone)
        return [{ text: 'text' in token ? String(token.text) : token.raw, ...(tone && { tone }) }]
    }
  })
}

/** A link shows its target, so that its text cannot deceive. */
function renderLink({ href, text, tokens }: Tokens.Link, tone: TextTone | undefined): StyledSpan[] {
  const named = renderInline(tokens, tone ?? 'link')
  return href === text || href === `mailto:${text}` ? named : [...named, { text: ` (${href})`, tone: 'quiet' }]
}

function wrapSpans(pieces: readonly StyledSpan[], width: number): StyledLine[] {
  const lines: StyledSpan[][] = [[]]
  for (const { text, tone } of pieces) appendText(lines, text, tone)
  return lines.flatMap((one) => wrapLine(one, width))
}

function renderCode({ text, lang = '' }: Tokens.Code, viewOptions: ViewOptions): StyledLine[] {
  const colored = viewOptions.highlight?.(text, lang.split(/\s/)[0] ?? '')
  const lines = colored ?? text.split('\n').map((one) => styledLine(one, 'code'))
  return renderCodeLines(lines, viewOptions.width)
}

function renderList({ items, ordered, start }: Tokens.List, viewOptions: ViewOptions): StyledLine[] {
  const first = typeof start === 'number' ? start : 1
  return items.flatMap((item, at) => {
    const box = item.task ? TASK_BOXES[viewOptions.ascii ? 'ascii' : 'unicode'][item.checked ? 1 : 0] : ''
    const mark = ordered ? `${first + at}. ` : item.task ? '' : '• '
    const lead: StyledSpan = { text: mark + box, tone: 'accent' }
    const inner = renderBlocks(item.tokens, { ...viewOptions, width: viewOptions.width - lead.text.length })
    const tight = item.loose ? inner : inner.filter((one, index) => one.length > 0 || inner[index + 1]?.length === 0)
    return hangIndent(tight, lead)
  })
}

const TASK_BOXES = { unicode: ['☐ ', '☑ '], ascii: ['[ ] ', '[x] '] } as const

function hangIndent(lines: readonly StyledLine[], lead: StyledSpan): StyledLine[] {
  const rest = { text: ' '.repeat(lead.text.length) }
  if (lines.length === 0) return [[lead]]
  return lines.map((one, at) => (at === 0 ? [lead, ...one] : one.length === 0 ? [] : [rest, ...one]))
}

/** If a table is too wide, its widest columns are wrapped. */
function renderTable({ header, rows, align }: Tokens.Table, width: number): StyledLine[] {
  const all = [header, ...rows].map((row) => row.map((cell) => renderInline(cell.tokens)))
  const widths = header.map((_unused, at) => Math.max(...all.map((row) => lineWidth(row[at] ?? [])), 1))
  const room = Math.max(width - 3 * (widths.length - 1), widths.length)
  while (widths.reduce((sum, one) => sum + one, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= 4) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  const drawn = all.flatMap((row, at) => {
    const lines = renderTableRow(row, widths, align)
    return at === 0
      ? [
          ...lines.map((one) => one.map(({ text }) => ({ text, tone: 'strong' as const }))),
          styledLine(widths.map((one) => '─'.repeat(one)).join('─┼─'), 'quiet'),
        ]
      : lines
  })
  return drawn.map((one) => clipLine(one, width))
}

function renderTableRow(row: readonly StyledLine[], widths: readonly number[], align: Tokens.Table['align']) {
  const columns = widths.map((width, at) => wrapLine(row[at] ?? [], width))
  const height = Math.max(...columns.map(({ length }) => length))
  return Array.from({ length: height }, (_unused, at) =>
    columns.flatMap((lines, column): StyledLine => {
      const cell = lines[at] ?? []
      const gap = Math.max((widths[column] ?? 0) - lineWidth(cell), 0)
      const before = align[column] === 'right' ? gap : align[column] === 'center' ? Math.floor(gap / 2) : 0
      const bar: StyledLine = column === 0 ? [] : [{ text: ' │ ', tone: 'quiet' }]
      return [...bar, { text: ' '.repeat(before) }, ...cell, { text: ' '.repeat(gap - before) }]
    }),
  )
}
