import type { JsonObject } from '../../model/json.ts'
import { matchEndMarker, couldBeEndMarker } from './end-markers.ts'
import type { TextCallDialect } from './dialects/dialect.ts'
import { findStartMarker, MARKER_CANDIDATE, findPartialWordMarker } from './start-markers.ts'
import { createMarkdownQuoteTracker } from './markdown-quotes.ts'
import { defined } from '../../model/defined.ts'

/** A tool as the scanner knows it. */
export interface DeclaredTool {
  readonly name: string
  readonly schema: JsonObject
}

/** A call of a declared tool. */
export interface FoundCall {
  readonly name: string
  readonly raw: string
  readonly dialect: string
}

/** What a whole text turned out to be. */
export interface ScanResult {
  /** What was not given back yet. */
  readonly rest: string
  /** The part of it before the calls. */
  readonly textBeforeCalls: string
  /** The calls at the end of the text. */
  readonly calls: readonly FoundCall[]
  /** Why there is markup but none of it counts. */
  readonly reason?: string
  /** The fence that ends the text. */
  readonly fence?: { readonly info: string; readonly body: string }
}

/** Looks for calls in a text that comes in pieces. */
export interface TextCallScanner {
  push(text: string): string
  end(): ScanResult
}

/**
 * Starts a scan. It is all or nothing: calls count only if they stand unquoted at the end of the text, one after the
 * other, each readable without doubt and each of a declared tool. As soon as that cannot be any more, all text goes
 * through. Every step depends only on the text so far, never on how it was cut into pieces.
 */
export function createTextCallScanner(tools: readonly DeclaredTool[]): TextCallScanner {
  const quotes = createMarkdownQuoteTracker()
  const calls: FoundCall[] = []
  let pending = ''
  /** Up to here, pending is judged. */
  let at = 0
  /** Where the calls begin. */
  let start: number | undefined
  let reason: string | undefined
  /** Do not look again before there is this much: reading a long call from its start at each piece would be quadratic. */
  let rescanLength = 0

  function advance(final: boolean): void {
    while (reason === undefined && at < pending.length) {
      if (!(start === undefined ? scanProse(final) : scanTail(final))) break
    }
    const waiting = pending.length - at
    rescanLength = waiting > RESCAN_THRESHOLD_CHARS ? pending.length + waiting : 0
  }

  /** One step through prose; false if more text is needed. */
  function scanProse(final: boolean): boolean {
    MARKER_CANDIDATE.lastIndex = at
    const hit = MARKER_CANDIDATE.exec(pending)
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

  /** One step through what follows a call: more calls, and what closes them. */
  function scanTail(final: boolean): boolean {
    const dialect = findStartMarker(pending, at)
    if (dialect === 'partial' && !final) return false
    const length = matchEndMarker(pending, at)
    at += length
    if (length > 0) return true
    if (dialect !== undefined && dialect !== 'partial') return read(dialect, final)
    if (!final && couldBeEndMarker(pending, at)) return false
    reason = 'text follows it'
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
    if (result.kind === 'open') {
      // What is inside an unfinished call must never be taken for a call itself.
      if (final) reason = 'it is not finished'
      return final
    }
    if (result.kind === 'prose') {
      if (start === undefined) return skipChar()
      reason = 'text follows it'
      return true
    }
    if (result.kind === 'broken') {
      reason = result.reason
      return true
    }
    for (const call of result.calls) {
      const tool = findDeclaredTool(tools, call.name)
      if (!tool) reason ??= `there is no tool ${call.name}`
      else calls.push({ name: tool.name, raw: call.raw, dialect: dialect.id })
    }
    start ??= at
    at = result.end
    return true
  }

  return {
    push(text) {
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
      const before = pending.slice(0, findTrimmedEnd(pending, start ?? pending.length))
      const fence = quotes.lastFence
      return {
        rest: pending,
        textBeforeCalls: before,
        calls,
        ...defined({ reason, fence }),
      }
    },
  }
}

/** The tool of this name. Some models put the name of a namespace before it. */
export function findDeclaredTool(tools: readonly DeclaredTool[], written: string): DeclaredTool | undefined {
  const bare = written.replace(/^(?:functions|default_api)\./, '')
  return tools.find(({ name }) => name === written) ?? tools.find(({ name }) => name === bare)
}

/** The end of the last word before a place. The white space after it goes with the markup, if it is markup. */
function findTrimmedEnd(text: string, to: number): number {
  let end = to
  while (end > 0 && /\s/.test(text[end - 1] ?? '')) end--
  return end
}

const RESCAN_THRESHOLD_CHARS = 256
