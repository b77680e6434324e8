/** Tracks what is quoted in Markdown text: fences, indented code, code spans, block quotes and escaped characters. */
export function createMarkdownQuoteTracker() {
  /** The beginning of the line. */
  let head = ''
  let lastChar = '\n'
  /** The line before this one was blank or code, so that an indented line is code. */
  let canBeIndentedCode = false
  let hasText = false
  /** The length of the run of backticks that opened a code span on this line. */
  let span = 0
  /** Is the span closed on this line? Undefined if nobody has looked. */
  let isSpanClosed: boolean | undefined
  let fence: { readonly char: string; readonly size: number } | undefined
  let info = ''
  let body = ''
  let fenceIsLast = false

  /** Skips text without line ends and backticks. */
  function skipText(text: string, from: number, to: number): void {
    if (from === to) return
    lastChar = text[to - 1] ?? ''
    if (head.length < MAX_LINE_HEAD_CHARS)
      head += text.slice(from, Math.min(to, from + MAX_LINE_HEAD_CHARS - head.length))
    if (fence) {
      if (body.length < MAX_FENCE_CHARS) body += text.slice(from, to)
    } else if (fenceIsLast && text.slice(from, to).trim() !== '') fenceIsLast = false
  }

  function startLine(): void {
    const isBlank = head.trim() === ''
    hasText ||= !isBlank
    canBeIndentedCode = hasText && (isBlank || isIndentedCode())
    head = ''
    lastChar = '\n'
    setSpan(0)
    if (fence && body.length < MAX_FENCE_CHARS) body += '\n'
  }

  function isIndentedCode(): boolean {
    return canBeIndentedCode && CODE_INDENT.test(head)
  }

  function setSpan(size: number): void {
    span = size
    isSpanClosed = undefined
  }

  /** Undefined if more text is needed. */
  function findSpanEnd(text: string, at: number, final: boolean): boolean | undefined {
    const newline = text.indexOf('\n', at)
    const lineEnd = newline < 0 ? text.length : newline
    BACKTICKS.lastIndex = at
    for (let hit = BACKTICKS.exec(text); hit && hit.index < lineEnd; hit = BACKTICKS.exec(text)) {
      if (BACKTICKS.lastIndex === text.length && !final) return undefined
      if (hit[0].length === span) return true
    }
    return newline < 0 && !final ? undefined : false
  }

  return {
    skipText,
    startLine,
    /** Skips any text; fences and spans in it mean nothing. */
    skipLines(text: string, from: number, to: number): void {
      const lineStart = text.lastIndexOf('\n', to - 1) + 1
      if (lineStart > from) {
        skipText(text, from, lineStart)
        startLine()
      }
      skipText(text, Math.max(from, lineStart), to)
    },
    /** Skips a run of backticks or tildes and returns its length; 0 if more text is needed. */
    readFenceOrSpan(text: string, at: number, final: boolean): number {
      const char = text[at] ?? ''
      let end = at + 1
      while (text[end] === char) end++
      const size = end - at
      if (end === text.length && !final) return 0
      if (size >= 3 && head.length < MAX_LINE_HEAD_CHARS) {
        const newline = text.indexOf('\n', end)
        const lineEnd = newline < 0 ? text.length : newline
        const rest = text.slice(end, lineEnd)
        const closes =
          fence && fence.char === char && size >= fence.size && FENCE_END_PREFIX.test(head) && rest.trim() === ''
        const opens = !fence && FENCE_PREFIX.test(head) && !(char === '`' && rest.includes('`'))
        if (closes || opens) {
          if (newline < 0 && !final) return 0
          fence = opens ? { char, size } : undefined
          if (opens) [info, body] = [rest.trim(), '']
          fenceIsLast = true
          head += text.slice(at, end)
          return lineEnd - at
        }
      }
      if (!fence && char === '`' && (span === 0 || span === size)) setSpan(span === 0 ? size : 0)
      skipText(text, at, end)
      return size
    },
    /** Undefined if more text is needed. */
    isQuoted(text: string, at: number, final: boolean): boolean | undefined {
      if (fence || isIndentedCode() || lastChar === '\\') return true
      if (`${head}${text[at]}`.trimStart().startsWith('>')) return true
      if (span === 0) return false
      if (lastChar === '`') return true
      return (isSpanClosed ??= findSpanEnd(text, at, final))
    },
    isAtLineStart: () => head.trim() === '',
    /** A line break at the start of the text. */
    getLastChar: () => lastChar,
    /** The fence that ends the text, or is open at its end. */
    getLastFence: () => (fence || fenceIsLast ? { info, body } : undefined),
  }
}

const BACKTICKS = /`+/g

/** Before a fence there may be white space, the marks of block quotes, and the mark of a list item. */
const FENCE_PREFIX = /^[\s>]*(?:[-*+]|\d{1,3}[.)])?\s*$/
const FENCE_END_PREFIX = /^[\s>]*$/
const CODE_INDENT = /^(?: {4}| {0,3}\t)/
const MAX_LINE_HEAD_CHARS = 24

/** A fence longer than this is a file, not a call. */
const MAX_FENCE_CHARS = 64 * 1024
