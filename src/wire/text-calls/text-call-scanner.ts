import type { JsonObject } from '../../model/json.ts'
import { readBareCalls } from './bare-calls.ts'
import type { RawTextCall, ReadResult, ReadScope } from './dialects/dialect.ts'
import { startsPythonCall } from './python-calls.ts'
import { couldBeEndMarker, matchEndMarker, matchMessageEnd } from './end-markers.ts'
import { createHeldText } from './held-text.ts'
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

export interface ScanOptions {
  /** The answer should be JSON: then the markup in its strings is content. */
  readonly isJsonExpected?: boolean
}

/**
 * Finds calls in a text, all or none: they must be unquoted, and each must be unambiguous and of a declared tool. After a
 * call there may be other calls and closing markers; text only if it sticks to a closing marker as no sentence about the
 * markup does. As soon as this is impossible, all text is passed through. The result does not depend on how the text is split
 * into pieces.
 */
export function createTextCallScanner(tools: readonly TextCallTool[], { isJsonExpected = false }: ScanOptions = {}) {
  let quotes = createMarkdownQuoteTracker()
  let calls: FoundCall[] = []
  const held = createHeldText()
  let pending = ''
  /** The part of `pending` that is scanned. */
  let at = 0
  let where: 'prose' | 'markup' = 'prose'
  /** Only white space came since the start of the text, or since the end of a thought. */
  let isAnswerStart = true
  let thoughts = 0
  /** The answer is JSON, as it should be. */
  let isJsonAnswer = false
  /** The calls have no marker. */
  let isBare = false
  /** The character before the markup. */
  let charBefore = ''
  /** The last thing that was read is a closing marker. */
  let isAfterMarker = false
  /** A thought ended directly after the calls: if anything follows, they were drafts. */
  let isThoughtOver = false
  /** Why there is markup, but no call. */
  let reason: string | undefined
  /** The markup was complete: if a thought ends after it, it was only a draft. */
  let mayBeDraft = false
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
    return !isJsonAnswer && (reason === undefined || mayBeDraft)
  }

  function refuse(why: string, isComplete = false): true {
    reason ??= why
    mayBeDraft = isComplete
    startProse()
    held.clearMarkup()
    return true
  }

  function startProse(): void {
    where = 'prose'
    quotes = createMarkdownQuoteTracker()
  }

  /** One step; false if more text is needed. */
  function scanProse(final: boolean): boolean {
    if (isAnswerStart) {
      const start = findTextStart(pending, at)
      if (start === pending.length) return false
      const json = isJsonExpected ? startsJson(pending, start) : false
      if (json === undefined && !final) return false
      if (json) return (isJsonAnswer = true)
      const bare =
        reason === undefined && !isJsonExpected ? readBareCalls(pending, start, createScope(final)) : undefined
      if (bare?.kind === 'open' && !final) return false
      isAnswerStart = false
      if (bare?.kind === 'open') return refuse(INCOMPLETE_MARKUP)
      if (bare?.kind === 'calls') {
        isBare = true
        at = start
        return addCalls(bare, pending[start] === '[' && startsPythonCall(pending, start) ? 'pythonic' : 'json')
      }
      if (bare?.kind === 'prose' && bare.end !== undefined) return skipTo(bare.end)
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

  /** A thought has ended here: calls before it were not meant. */
  function startAnswer(end: number): true {
    at = end
    startProse()
    isAnswerStart = ++thoughts <= MAX_THOUGHTS
    isBare = false
    isThoughtOver = false
    reason = undefined
    calls = []
    held.clearMarkup()
    return true
  }

  /** One step after a call: another call, an end marker, or text that belongs to another part of the message. */
  function scanMarkup(final: boolean): boolean {
    if (isBare || isThoughtOver) return scanMessageEnd(final)
    const thoughtEnd = findThoughtEnd(pending, at)
    const marker = findStartMarker(pending, at)
    if ((thoughtEnd === 'partial' || marker === 'partial') && !final) return false
    if (typeof thoughtEnd === 'object') {
      at = thoughtEnd.end
      return (isThoughtOver = true)
    }
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
    const isGlued = isAfterMarker && GLUED_TEXT.test(charBefore + pending.slice(at, at + 2))
    return isGlued ? leaveMarkup() : refuse(TRAILING_TEXT, true)
  }

  function scanMessageEnd(final: boolean): boolean {
    const length = matchMessageEnd(pending, at)
    at += length
    if (length > 0) return true
    if (!final && couldBeEndMarker(pending, at)) return false
    return isThoughtOver ? startAnswer(at) : refuse(TRAILING_TEXT, true)
  }

  function leaveMarkup(): true {
    held.endMarkup(held.getLength() + at)
    startProse()
    return true
  }

  function skipChar(): true {
    quotes.skipText(pending, at, at + 1)
    at++
    return true
  }

  function skipTo(end: number): true {
    quotes.skipLines(pending, at, end)
    at = end
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
        if (where === 'markup') return refuse(TRAILING_TEXT, true)
        return result.end === undefined ? skipChar() : skipTo(result.end)
      case 'broken':
        return refuse(result.reason)
      case 'calls':
        return addCalls(result, '')
      default:
        return result satisfies never
    }
  }

  function addCalls(result: ReadResult & { readonly kind: 'calls' }, dialect: string): true {
    if (where === 'prose') {
      held.startMarkup(held.getLength() + at)
      charBefore = quotes.isAtLineStart() ? '\n' : quotes.getLastChar()
    }
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

  function holdScanned(): void {
    held.add(pending.slice(0, at))
    pending = pending.slice(at)
    rescanLength -= at
    at = 0
  }

  return {
    push(text: string): string {
      if (!isScanning()) return text
      pending += text
      // White space at the end is held back in any case.
      if (pending.length < rescanLength || !/\S/.test(text)) return ''
      advance(false)
      holdScanned()
      if (reason === undefined && !isJsonAnswer) return held.takeVisible()
      const rest = isScanning() ? '' : pending
      if (rest !== '') pending = ''
      return held.takeAll() + rest
    },
    end() {
      advance(true)
      held.add(pending)
      const textWithoutCalls = held.removeMarkup()
      return { rest: held.takeAll(), textWithoutCalls, calls, reason, fence: quotes.getLastFence() }
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

function findTextStart(text: string, from: number): number {
  return text.length - text.slice(from).trimStart().length
}

/** Undefined if more text is needed. In a list, a word could also be a marker or a call. */
function startsJson(text: string, at: number): boolean | undefined {
  if (text[at] !== '[') return text[at] === '{' || text[at] === '"'
  const next = text[findTextStart(text, at + 1)]
  return next === undefined ? undefined : /[\d{["\]-]/.test(next)
}

function isHalfCharacter(text: string, at: number): boolean {
  return at + 1 === text.length && /[\ud800-\udbff]/.test(text[at] ?? '')
}

/**
 * The character before the markup (a line break if nothing is before it on its line) and the one after it, if the text after it
 * is another part of the message. Scripts without upper case have no spaces that would show it, and neither has a plural.
 */
const GLUED_TEXT =
  /^(?:[.!?][\p{L}\p{Extended_Pictographic}]|[\p{Lu}\p{Ll}\p{N}][\p{Lu}\p{Ll}\p{Extended_Pictographic}]|\n[\p{Lu}\p{Extended_Pictographic}])/u

export const TRAILING_TEXT = 'there is text after it'
const INCOMPLETE_MARKUP = 'it is incomplete'

const RESCAN_THRESHOLD_CHARS = 256

/** After more thoughts than this, calls need a marker: looking for others would take quadratic time. */
const MAX_THOUGHTS = 8
