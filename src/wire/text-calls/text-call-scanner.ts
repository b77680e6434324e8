import type { JsonObject } from '../../model/json.ts'
import { readBareCalls } from './bare-calls.ts'
import type { RawTextCall, ReadResult, ReadScope } from './dialects/dialect.ts'
import { startsPythonCall } from './python-calls.ts'
import { couldBeEndMarker, matchEndMarker, matchMessageEnd } from './end-markers.ts'
import { createMarkdownQuoteTracker } from './markdown-quotes.ts'
import { findPartialWordMarker, findStartMarker, MARKER_CANDIDATE_PATTERN, readAtMarker } from './start-markers.ts'
import { findTextPart, findThoughtEnd } from './thought-markers.ts'

export interface TextCallTool {
  /** The name on the wire. */
  readonly name: string
  /** The name by which the tool is registered: a model may know it from elsewhere. */
  readonly originalName?: string
  readonly schema: JsonObject
}

export interface FoundCall extends RawTextCall {
  readonly dialect: string
}

/**
 * Finds calls in a text, all or none: they must be unquoted, and each must be unambiguous and of a declared tool. After a
 * call there may be other calls and closing markers; text only if it sticks to a closing marker, which no sentence about the
 * markup does. As soon as this is impossible, all text is passed through. The result does not depend on how the text is split
 * into pieces.
 */
export function createTextCallScanner(tools: readonly TextCallTool[]) {
  let quotes = createMarkdownQuoteTracker()
  let calls: FoundCall[] = []
  let pending = ''
  /** The part of `pending` that is scanned. */
  let at = 0
  /** The markup in `pending` so far; the last span ends at `at` while the scanner is in it. */
  let spans: { readonly from: number; to: number }[] = []
  let where: 'prose' | 'markup' = 'prose'
  /** Only white space came since the start of the text, or since the end of a thought. */
  let isAnswerStart = true
  /** The calls have no marker. */
  let isBare = false
  /** The last thing that was read is a closing marker. */
  let isAfterMarker = false
  /** Why there is markup, but no call. */
  let reason: string | undefined
  /** The markup was complete: if a thought ends after it, it was only a draft. */
  let mayBeDraft = false
  let hasShown = false
  /** Do not scan again before this length: parsing a long call from its start at each piece would take quadratic time. */
  let rescanLength = 0

  function advance(final: boolean): void {
    while (isScanning() && at < pending.length) {
      if (!(where === 'prose' ? scanProse(final) : scanMarkup(final))) break
    }
    const waiting = pending.length - at
    rescanLength = waiting > RESCAN_THRESHOLD_CHARS ? pending.length + waiting : 0
  }

  function isScanning(): boolean {
    return reason === undefined || mayBeDraft
  }

  function refuse(why: string, isComplete = false): true {
    reason ??= why
    mayBeDraft = isComplete
    where = 'prose'
    quotes = createMarkdownQuoteTracker()
    return true
  }

  /** One step; false if more text is needed. */
  function scanProse(final: boolean): boolean {
    if (isAnswerStart) {
      const start = findTextStart(pending, at)
      if (start === pending.length) return false
      const bare =
        reason === undefined && calls.length === 0 ? readBareCalls(pending, start, createScope(final)) : undefined
      if (bare?.kind === 'open' && !final) return false
      isAnswerStart = false
      if (bare?.kind === 'open') return refuse(INCOMPLETE_MARKUP)
      if (bare?.kind === 'calls') {
        isBare = true
        at = start
        return addCalls(bare, pending[start] === '[' && startsPythonCall(pending, start) ? 'pythonic' : 'json')
      }
    }
    MARKER_CANDIDATE_PATTERN.lastIndex = at
    const hit = MARKER_CANDIDATE_PATTERN.exec(pending)
    const candidate = hit ? hit.index : final ? pending.length : findPartialWordMarker(pending, at)
    quotes.skipText(pending, at, candidate)
    at = candidate
    if (!hit) return false
    if (hit[0] === '\n') {
      quotes.startLine()
      at++
      return true
    }
    if (hit[0] === '`' || hit[0] === '~') {
      const length = quotes.readFenceOrSpan(pending, at, final)
      at += length
      return length > 0
    }
    const thoughtEnd = findThoughtEnd(pending, at)
    const marker = reason === undefined ? findStartMarker(pending, at) : undefined
    if ((thoughtEnd === 'partial' || marker === 'partial') && !final) return false
    const isThoughtEnd = typeof thoughtEnd === 'object'
    if (!isThoughtEnd && typeof marker !== 'object') return skipChar()
    const quoted = quotes.isQuoted(pending, at, final)
    if (quoted === undefined) return false
    if (quoted) return skipChar()
    if (isThoughtEnd) return startAnswer(thoughtEnd.end)
    return typeof marker === 'object' ? read(readAtMarker(pending, at, marker, createScope(final)), final) : skipChar()
  }

  /** A thought ends here: calls that were refused before it were not meant. */
  function startAnswer(end: number): true {
    quotes.skipText(pending, at, end)
    at = end
    isAnswerStart = true
    if (reason !== undefined) {
      reason = undefined
      calls = []
      spans = []
    }
    return true
  }

  /** One step after a call: another call, an end marker, or text that belongs to another part of the message. */
  function scanMarkup(final: boolean): boolean {
    if (isBare) return scanMessageEnd(final)
    const marker = findStartMarker(pending, at)
    if (marker === 'partial' && !final) return false
    const end = matchEndMarker(pending, at)
    if (end) {
      isAfterMarker = end.kind === 'marker'
      at += end.length
      return true
    }
    const part = findTextPart(pending, at)
    if (part === 'partial' && !final) return false
    if (typeof part === 'object') {
      at = part.end
      return leaveMarkup()
    }
    if (typeof marker === 'object') return read(readAtMarker(pending, at, marker, createScope(final)), final)
    if (!final && couldBeEndMarker(pending, at)) return false
    if (isAfterMarker && !final && isHalfCharacter(pending, at)) return false
    return isAfterMarker && startsWord(pending, at) ? leaveMarkup() : refuse(TRAILING_TEXT, true)
  }

  function scanMessageEnd(final: boolean): boolean {
    const length = matchMessageEnd(pending, at)
    at += length
    if (length > 0) return true
    return !final && couldBeEndMarker(pending, at) ? false : refuse(TRAILING_TEXT, true)
  }

  function leaveMarkup(): true {
    const span = spans.at(-1)
    if (span) span.to = at
    where = 'prose'
    quotes = createMarkdownQuoteTracker()
    return true
  }

  function skipChar(): true {
    quotes.skipText(pending, at, at + 1)
    at++
    return true
  }

  function createScope(isFinal: boolean): ReadScope {
    return {
      isFinal,
      findSchema: (name) => findDeclaredTool(tools, name)?.schema,
      hasToolWithPrefix: (prefix) =>
        tools.some(({ name, originalName }) => name.startsWith(prefix) || originalName?.startsWith(prefix)),
    }
  }

  function read(result: ReadResult, final: boolean): boolean {
    switch (result.kind) {
      case 'open':
        // The content of an incomplete call must never be taken for a call.
        return final && refuse(INCOMPLETE_MARKUP)
      case 'prose':
        return where === 'prose' ? skipChar() : refuse(TRAILING_TEXT, true)
      case 'broken':
        return refuse(result.reason)
      case 'calls':
        return addCalls(result, '')
      default:
        return result satisfies never
    }
  }

  function addCalls(result: ReadResult & { readonly kind: 'calls' }, dialect: string): true {
    if (where === 'prose') spans.push({ from: at, to: at })
    where = 'markup'
    at = result.end
    isAfterMarker = pending[at - 1] === '>'
    for (const call of result.calls) {
      const tool = findDeclaredTool(tools, call.name)
      if (!tool) return refuse(`there is no tool ${call.name}`, true)
      calls.push({ name: tool.name, raw: call.raw, dialect: call.dialect ?? dialect })
    }
    return true
  }

  /** The text outside the markup; one call may stand between two pieces of it. */
  function removeMarkup(): string {
    const [first] = spans
    if (!first) return pending
    const before = pending.slice(0, findTrimmedEnd(pending, first.from))
    const after = spans.flatMap((span, i) => {
      const isOpen = where === 'markup' && i === spans.length - 1
      const piece = pending.slice(isOpen ? pending.length : span.to, spans[i + 1]?.from ?? pending.length).trim()
      return piece === '' ? [] : [piece]
    })
    const hasTextBefore = hasShown || before !== ''
    return before + after.map((piece, i) => (i > 0 || hasTextBefore ? `\n${piece}` : piece)).join('')
  }

  return {
    push(text: string): string {
      if (!isScanning()) return text
      pending += text
      if (pending.length < rescanLength) return ''
      advance(false)
      const shown =
        reason === undefined ? findTrimmedEnd(pending, spans[0]?.from ?? at) : isScanning() ? at : pending.length
      const out = pending.slice(0, shown)
      pending = pending.slice(shown)
      at -= shown
      rescanLength -= shown
      if (spans.length > 0) spans = spans.map(({ from, to }) => ({ from: from - shown, to: to - shown }))
      hasShown ||= out !== ''
      return out
    },
    end() {
      advance(true)
      return { rest: pending, textWithoutCalls: removeMarkup(), calls, reason, fence: quotes.getLastFence() }
    },
  }
}

/** Some models put a namespace before the name. */
export function findDeclaredTool(tools: readonly TextCallTool[], written: string): TextCallTool | undefined {
  const bare = written.replace(/^(?:functions|default_api)\./, '')
  return (
    tools.find(({ name }) => name === written) ??
    tools.find(({ name }) => name === bare) ??
    tools.find(({ originalName }) => originalName === written)
  )
}

/** The end of the text before an offset, without white space: that is removed with the markup. */
function findTrimmedEnd(text: string, to: number): number {
  return text.slice(0, to).trimEnd().length
}

function findTextStart(text: string, from: number): number {
  return text.length - text.slice(from).trimStart().length
}

function startsWord(text: string, at: number): boolean {
  return /^[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text.slice(at, at + 2))
}

function isHalfCharacter(text: string, at: number): boolean {
  return at + 1 === text.length && /[\ud800-\udbff]/.test(text[at] ?? '')
}

const TRAILING_TEXT = 'there is text after it'
const INCOMPLETE_MARKUP = 'it is incomplete'

const RESCAN_THRESHOLD_CHARS = 256
