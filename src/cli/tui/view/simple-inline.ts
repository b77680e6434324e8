import type { StyledSpan } from '../term/styled-line.ts'

/**
 * The spans of a text whose only markup is code and emphasis that is not nested, as in most paragraphs; undefined if it
 * may have other markup. The lexer tries a dozen rules at each of its steps.
 */
export function renderSimpleInline(text: string): StyledSpan[] | undefined {
  const spans: StyledSpan[] = []
  for (let at = 0; at < text.length;) {
    const piece = readPiece(text, at)
    if (!piece) return undefined
    spans.push(piece.span)
    at = piece.end
  }
  return spans
}

function readPiece(text: string, at: number): { span: StyledSpan; end: number } | undefined {
  const plain = match(PLAIN, text, at)
  if (plain) return LINK_OR_BREAK.test(plain[0]) ? undefined : { span: { text: plain[0] }, end: PLAIN.lastIndex }
  const code = match(CODE, text, at)
  if (code) return { span: { text: trimCode(code[1] ?? ''), tone: 'code' }, end: CODE.lastIndex }
  const emphasis = /^[\s(]?$/.test(text.slice(Math.max(at - 1, 0), at)) ? match(EMPHASIS, text, at) : undefined
  if (!emphasis || LINK_OR_BREAK.test(emphasis[0])) return undefined
  const tone = emphasis[1] === '**' ? 'strong' : 'emphasis'
  return { span: { text: emphasis[2] ?? '', tone }, end: EMPHASIS.lastIndex }
}

const PLAIN = /[^\\`*_~[<@]+/y
const CODE = /`([^`]+)`(?!`)/y
const EMPHASIS = /(\*\*?)([A-Za-z0-9](?:[^\\`*_~[<@\n]*[A-Za-z0-9.,:;!?)])?)\1(?=$|[\s.,:;!?)])/y
const LINK_OR_BREAK = /:\/\/|www\.| {2}\n/i

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** One blank at both ends belongs to the markup. */
function trimCode(text: string): string {
  const line = text.replaceAll('\n', ' ')
  return /^ .*[^ ].* $/.test(line) ? line.slice(1, -1) : line
}
