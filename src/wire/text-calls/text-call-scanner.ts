import type { JsonObject } from '../../model/json.ts'
import type { RawTextCall, TextCallDialect } from './dialects/dialect.ts'
import { findStartMarker, MARKER_CANDIDATE_PATTERN, findPartialWordMarker } from './start-markers.ts'
import { couldBeEndMarker, matchEndMarker } from './end-markers.ts'
import { createMarkdownQuoteTracker } from './markdown-quotes.ts'

export interface TextCallTool {
  readonly name: string
  readonly schema: JsonObject
}

export interface FoundCall extends RawTextCall {
  readonly dialect: string
}

/**
 * Finds calls at the end of a text, all or none: they must be unquoted and adjacent, and each must be unambiguous and of a
 * declared tool. As soon as this is impossible, all text is passed through. The result does not depend on how the text is
 * split into pieces.
 */
export function createTextCallScanner(tools: readonly TextCallTool[]) {
  const quotes = createMarkdownQuoteTracker()
  const calls: FoundCall[] = []
  let pending = ''
  /** The part of `pending` that is scanned. */
  let at = 0
  /** Where the calls start. */
  let start: number | undefined
  /** Why there is markup, but no call. */
  let reason: string | undefined
  /** Do not scan again before this length: parsing a long call from its start at each piece would take quadratic time. */
  let rescanLength = 0

  function advance(final: boolean): void {
    while (reason === undefined && at < pending.length) {
      if (!(start === undefined ? scanProse(final) : scanTail(final))) break
    }
    const waiting = pending.length - at
    rescanLength = waiting > RESCAN_THRESHOLD_CHARS ? pending.length + waiting : 0
  }

  /** One step; false if more text is needed. */
  function scanProse(final: boolean): boolean {
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
    const dialect = findStartMarker(pending, at)
    if (dialect === 'partial' && !final) return false
    if (dialect === undefined || dialect === 'partial') return skipChar()
    const quoted = quotes.isQuoted(pending, at, final)
    if (quoted === undefined) return false
    return quoted ? skipChar() : read(dialect, final)
  }

  /** One step after a call: another call, or an end marker. */
  function scanTail(final: boolean): boolean {
    const dialect = findStartMarker(pending, at)
    if (dialect === 'partial' && !final) return false
    const length = matchEndMarker(pending, at)
    at += length
    if (length > 0) return true
    if (dialect !== undefined && dialect !== 'partial') return read(dialect, final)
    if (!final && couldBeEndMarker(pending, at)) return false
    reason = TRAILING_TEXT
    return true
  }

  function skipChar(): boolean {
    quotes.skipText(pending, at, at + 1)
    at++
    return true
  }

  function read(dialect: TextCallDialect, final: boolean): boolean {
    const result = dialect.read(pending, at, {
      isFinal: final,
      findSchema: (name) => findDeclaredTool(tools, name)?.schema,
    })
    switch (result.kind) {
      case 'open':
        // The content of an incomplete call must never be taken for a call.
        if (final) reason = 'it is incomplete'
        return final
      case 'prose':
        if (start === undefined) return skipChar()
        reason = TRAILING_TEXT
        return true
      case 'broken':
        reason = result.reason
        return true
      case 'calls':
        for (const call of result.calls) {
          const tool = findDeclaredTool(tools, call.name)
          if (!tool) reason ??= `there is no tool ${call.name}`
          else calls.push({ name: tool.name, raw: call.raw, dialect: dialect.id })
        }
        start ??= at
        at = result.end
        return true
      default:
        return result satisfies never
    }
  }

  return {
    push(text: string): string {
      if (reason !== undefined) return text
      pending += text
      if (pending.length < rescanLength) return ''
      advance(false)
      const shown = reason === undefined ? findTrimmedEnd(pending, start ?? at) : pending.length
      const out = pending.slice(0, shown)
      pending = pending.slice(shown)
      at -= shown
      rescanLength -= shown
      if (start !== undefined) start -= shown
      return out
    },
    end() {
      advance(true)
      const textBeforeCalls = pending.slice(0, findTrimmedEnd(pending, start ?? pending.length))
      return { rest: pending, textBeforeCalls, calls, reason, fence: quotes.lastFence }
    },
  }
}

/** Some models put a namespace before the name. */
export function findDeclaredTool(tools: readonly TextCallTool[], written: string): TextCallTool | undefined {
  const bare = written.replace(/^(?:functions|default_api)\./, '')
  return tools.find(({ name }) => name === written) ?? tools.find(({ name }) => name === bare)
}

/** The end of the text before an offset, without white space: that is removed with the markup. */
function findTrimmedEnd(text: string, to: number): number {
  let end = to
  while (end > 0 && /\s/.test(text[end - 1] ?? '')) end--
  return end
}

const TRAILING_TEXT = 'there is text after it'

const RESCAN_THRESHOLD_CHARS = 256
