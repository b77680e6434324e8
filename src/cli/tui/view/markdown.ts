import { lexer, Lexer, type Token, type Tokens } from 'marked'
import { cut, type Line, line, lineWidth, type Span, type Tone, wrap } from '../term/line.ts'
import { type Look, READABLE } from './look.ts'

/** Markdown as lines. The text holds no control characters. */
export function markdown(text: string, look: Look): Line[] {
  return blocks(lexer(text), { ...look, width: Math.min(look.width, READABLE) })
}

/** How much of a text that still grows is final: all blocks but the last. Gives an offset into the text. */
export function settledLength(text: string): number {
  // Where blocks end can be told without looking into them.
  const tokens = new Lexer().blockTokens(text)
  const last = tokens.findLastIndex(({ type }) => type !== 'space')
  const whole = tokens.slice(0, Math.max(last, 0)).reduce((sum, { raw }) => sum + raw.length, 0)
  // A paragraph that does not end would be laid out anew, all of it, with each piece: its lines that are whole are final.
  const isEndless = tokens[last]?.type === 'paragraph' && text.length - whole > LONGEST_PARAGRAPH
  return isEndless ? Math.max(text.lastIndexOf('\n') + 1, whole) : whole
}

const LONGEST_PARAGRAPH = 4000

function blocks(tokens: readonly Token[], look: Look): Line[] {
  const out: Line[] = []
  for (const token of tokens) {
    // The box of a task stands in its list item.
    if (token.type === 'space' || token.type === 'def' || token.type === 'checkbox') continue
    if (out.length > 0) out.push([])
    out.push(...block(token, look))
  }
  return out
}

function block(token: Token, look: Look): Line[] {
  const { width } = look
  switch (token.type) {
    case 'heading':
      return wrapped(inline(token.tokens ?? [], 'heading'), width)
    case 'code':
      return code(token as Tokens.Code, look)
    case 'blockquote':
      return prefixed(blocks(token.tokens ?? [], { ...look, width: width - 2 }), { text: '│ ', tone: 'quiet' })
    case 'list':
      return list(token as Tokens.List, look)
    case 'table':
      return table(token as Tokens.Table, width)
    case 'hr':
      return [line('─'.repeat(Math.min(width, 40)), 'quiet')]
    case 'html':
      return token.raw
        .trimEnd()
        .split('\n')
        .flatMap((one) => wrap(line(one, 'quiet'), width))
    default:
      return wrapped(inline('tokens' in token && token.tokens ? token.tokens : [token]), width)
  }
}

/** Inline pieces, with their line breaks as '\n'. */
function inline(tokens: readonly Token[], tone?: Tone): Span[] {
  return tokens.flatMap((token): Span[] => {
    switch (token.type) {
      case 'strong':
        return inline(token.tokens ?? [], tone ?? 'strong')
      case 'em':
        return inline(token.tokens ?? [], tone ?? 'emphasis')
      case 'del':
        return inline(token.tokens ?? [], 'quiet')
      case 'codespan':
        return [{ text: token.text as string, tone: 'code' }]
      case 'link':
        return link(token as Tokens.Link, tone)
      case 'image':
        return [{ text: `[image: ${(token as Tokens.Image).text}]`, tone: 'quiet' }]
      case 'br':
        return [{ text: '\n' }]
      case 'checkbox':
        return []
      default:
        if ('tokens' in token && token.tokens) return inline(token.tokens, tone)
        return [{ text: 'text' in token ? String(token.text) : token.raw, ...(tone && { tone }) }]
    }
  })
}

/** A link shows where it leads, so that nobody follows a name. */
function link({ href, text, tokens }: Tokens.Link, tone: Tone | undefined): Span[] {
  const named = inline(tokens, tone ?? 'link')
  return href === text || href === `mailto:${text}` ? named : [...named, { text: ` (${href})`, tone: 'quiet' }]
}

function wrapped(pieces: readonly Span[], width: number): Line[] {
  const lines: Span[][] = [[]]
  for (const { text, tone } of pieces) {
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) lines.push([])
      if (part !== '') lines.at(-1)?.push(tone === undefined ? { text: part } : { text: part, tone })
    }
  }
  return lines.flatMap((one) => wrap(one, width))
}

function code({ text, lang = '' }: Tokens.Code, look: Look): Line[] {
  const colored = look.highlight?.(text, lang.split(/\s/)[0] ?? '')
  const lines = colored ?? text.split('\n').map((one) => line(one, 'code'))
  return lines.flatMap((one) => wrap([{ text: '  ' }, ...one], look.width, [{ text: '  ' }]))
}

function list({ items, ordered, start }: Tokens.List, look: Look): Line[] {
  const first = typeof start === 'number' ? start : 1
  return items.flatMap((item, at) => {
    const box = item.task ? BOXES[look.ascii ? 'ascii' : 'unicode'][item.checked ? 1 : 0] : ''
    const mark = ordered ? `${first + at}. ` : item.task ? '' : '• '
    const lead: Span = { text: mark + box, tone: 'accent' }
    const inner = blocks(item.tokens, { ...look, width: look.width - lead.text.length })
    const tight = item.loose ? inner : inner.filter((one, index) => one.length > 0 || inner[index + 1]?.length === 0)
    return hanging(tight, lead)
  })
}

/** The boxes of tasks that are open and done. */
const BOXES = { unicode: ['☐ ', '☑ '], ascii: ['[ ] ', '[x] '] } as const

function hanging(lines: readonly Line[], lead: Span): Line[] {
  const rest = { text: ' '.repeat(lead.text.length) }
  if (lines.length === 0) return [[lead]]
  return lines.map((one, at) => (at === 0 ? [lead, ...one] : one.length === 0 ? [] : [rest, ...one]))
}

function prefixed(lines: readonly Line[], lead: Span): Line[] {
  return lines.map((one) => [lead, ...one])
}

/** A table; where it is too wide, the widest columns are broken into lines. */
function table({ header, rows, align }: Tokens.Table, width: number): Line[] {
  const all = [header, ...rows].map((row) => row.map((cell) => inline(cell.tokens)))
  const widths = header.map((_unused, at) => Math.max(...all.map((row) => lineWidth(row[at] ?? [])), 1))
  const room = Math.max(width - 3 * (widths.length - 1), widths.length)
  while (widths.reduce((sum, one) => sum + one, 0) > room) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= 4) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  const drawn = all.flatMap((row, at) => {
    const lines = tableRow(row, widths, align)
    return at === 0
      ? [
          ...lines.map((one) => one.map(({ text }) => ({ text, tone: 'strong' as const }))),
          line(widths.map((one) => '─'.repeat(one)).join('─┼─'), 'quiet'),
        ]
      : lines
  })
  return drawn.map((one) => cut(one, width))
}

function tableRow(row: readonly Line[], widths: readonly number[], align: Tokens.Table['align']): Line[] {
  const columns = widths.map((width, at) => wrap(row[at] ?? [], width))
  const height = Math.max(...columns.map(({ length }) => length))
  return Array.from({ length: height }, (_unused, at) =>
    columns.flatMap((lines, column): Line => {
      const cell = lines[at] ?? []
      const gap = Math.max((widths[column] ?? 0) - lineWidth(cell), 0)
      const before = align[column] === 'right' ? gap : align[column] === 'center' ? Math.floor(gap / 2) : 0
      const bar: Line = column === 0 ? [] : [{ text: ' │ ', tone: 'quiet' }]
      return [...bar, { text: ' '.repeat(before) }, ...cell, { text: ' '.repeat(gap - before) }]
    }),
  )
}
