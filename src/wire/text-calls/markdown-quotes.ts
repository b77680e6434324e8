/** Tracks what is quoted in Markdown text: fences, code spans and block quotes. */
export function createMarkdownQuoteTracker() {
  /** The beginning of the line. */
  let head = ''
  /** The length of the run of backticks that opened a code span on this line. */
  let span = 0
  let fence: { readonly char: string; readonly size: number } | undefined
  let info = ''
  let body = ''
  let fenceIsLast = false

  /** Skips text without line ends and backticks. */
  function skipText(text: string, from: number, to: number): void {
    if (from === to) return
    if (head.length < MAX_LINE_HEAD_CHARS)
      head += text.slice(from, Math.min(to, from + MAX_LINE_HEAD_CHARS - head.length))
    if (fence) {
      if (body.length < MAX_FENCE_CHARS) body += text.slice(from, to)
    } else if (fenceIsLast && text.slice(from, to).trim() !== '') fenceIsLast = false
  }

  return {
    skipText,
    startLine(): void {
      head = ''
      span = 0
      if (fence && body.length < MAX_FENCE_CHARS) body += '\n'
    },
    /** Skips a run of backticks or tildes and returns its length; 0 if more text is needed. */
    readFenceOrSpan(text: string, at: number, final: boolean): number {
      const char = text[at] ?? ''
      let end = at + 1
      while (text[end] === char) end++
      const size = end - at
      if (end === text.length && !final) return 0
      if (size >= 3 && FENCE_PREFIX.test(head) && head.length < MAX_LINE_HEAD_CHARS) {
        const newline = text.indexOf('\n', end)
        const lineEnd = newline < 0 ? text.length : newline
        const rest = text.slice(end, lineEnd)
        const closes = fence && fence.char === char && size >= fence.size && rest.trim() === ''
        const opens = !fence && !(char === '`' && rest.includes('`'))
        if (closes || opens) {
          if (newline < 0 && !final) return 0
          fence = opens ? { char, size } : undefined
          if (opens) [info, body] = [rest.trim(), '']
          fenceIsLast = true
          head += text.slice(at, end)
          return lineEnd - at
        }
      }
      if (!fence && char === '`') span = span === 0 ? size : span === size ? 0 : span
      skipText(text, at, end)
      return size
    },
    /** Undefined if more text is needed. */
    isQuoted(text: string, at: number, final: boolean): boolean | undefined {
      if (fence || head.trimStart().startsWith('>')) return true
      if (span === 0) return false
      const newline = text.indexOf('\n', at)
      const lineEnd = newline < 0 ? text.length : newline
      BACKTICKS.lastIndex = at
      for (let hit = BACKTICKS.exec(text); hit && hit.index < lineEnd; hit = BACKTICKS.exec(text)) {
        if (BACKTICKS.lastIndex === text.length && !final) return undefined
        if (hit[0].length === span) return true
      }
      return newline < 0 && !final ? undefined : false
    },
    isAtLineStart: () => head.trim() === '',
    /** The fence that ends the text, or is open at its end. */
    getLastFence: () => (fence || fenceIsLast ? { info, body } : undefined),
  }
}

const BACKTICKS = /`+/g

/** Before a fence there may be white space, the marks of block quotes, and the mark of a list item. */
const FENCE_PREFIX = /^[\s>]*(?:[-*+]|\d{1,3}[.)])?\s*$/
const MAX_LINE_HEAD_CHARS = 24

/** A fence longer than this is a file, not a call. */
const MAX_FENCE_CHARS = 64 * 1024
