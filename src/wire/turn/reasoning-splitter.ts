import { MAX_PATTERN_CHARS } from '../text-calls/dialects/dialect.ts'
import { findStartMarker, MARKER_CANDIDATE_PATTERN, readAtMarker } from '../text-calls/start-markers.ts'
import { createMarkdownQuoteTracker } from '../text-calls/markdown-quotes.ts'

export interface TextOrReasoning {
  readonly channel: 'text' | 'reasoning'
  readonly text: string
}

/**
 * Reasoning starts with its tag at the start of a line outside quotes, since prose may mention the tag, and extends to its
 * closing tag or to the end of the text (T71). The markup of a call ends it too: a call is never part of reasoning (T70).
 * `inside` is for models whose prompt already contains the opening tag.
 */
export function createReasoningSplitter(inside = false) {
  let quotes = createMarkdownQuoteTracker()
  let pending = ''
  let at = 0
  let channel: TextOrReasoning['channel'] = inside ? 'reasoning' : 'text'
  /** The tag that ends the reasoning. */
  let closer = inside ? '</think>' : ''
  /** White space after a tag is removed with it. */
  let isAfterTag = inside
  let pieces: TextOrReasoning[] = []
  /** Do not scan again before this length: looking at a long wait at each piece would take quadratic time. */
  let rescanLength = 0

  function emit(to: number): void {
    const text = isAfterTag ? pending.slice(0, to).trimStart() : pending.slice(0, to)
    if (text !== '') {
      const last = pieces.at(-1)
      if (last?.channel === channel) pieces[pieces.length - 1] = { channel, text: last.text + text }
      else pieces.push({ channel, text })
      isAfterTag = false
    }
    pending = pending.slice(to)
    at -= to
  }

  function switchChannel(to: TextOrReasoning['channel'], tag: number): void {
    emit(at)
    channel = to
    quotes = createMarkdownQuoteTracker()
    if (tag === 0) return
    pending = pending.slice(tag)
    isAfterTag = true
  }

  function skipChar(): boolean {
    quotes.skipText(pending, at, at + 1)
    at++
    return true
  }

  /** One step; false if more text is needed. */
  function advance(final: boolean): boolean {
    MARKER_CANDIDATE_PATTERN.lastIndex = at
    const hit = MARKER_CANDIDATE_PATTERN.exec(pending)
    const candidate = hit ? hit.index : pending.length
    quotes.skipText(pending, at, candidate)
    at = candidate
    if (!hit) return false
    const char = hit[0]
    if (char === '\n') {
      quotes.startLine()
      at++
      return true
    }
    if (char === '`' || char === '~') {
      const length = quotes.readFenceOrSpan(pending, at, final)
      at += length
      return length > 0
    }
    const closing = closer === '' ? 'no' : tagAt(closer)
    if (closing === 'partial' && !final) return false
    if (closing === 'yes') {
      const length = closer.length
      closer = ''
      // After a call it stays: it may be in an argument, or it may make the call a draft (T187).
      if (channel === 'text') return skipChar()
      switchChannel('text', length)
      return true
    }
    return channel === 'text' ? scanText(final) : scanReasoning(char, final)
  }

  function scanText(final: boolean): boolean {
    if (!quotes.isAtLineStart() || closer !== '') return skipChar()
    for (const [open, close] of THINK_TAGS) {
      const opening = tagAt(open)
      if (opening === 'no' || (opening === 'partial' && final)) continue
      const quoted = opening === 'partial' ? undefined : quotes.isQuoted(pending, at, final)
      if (quoted === undefined) return false
      if (quoted) continue
      closer = close
      switchChannel('reasoning', open.length)
      return true
    }
    return skipChar()
  }

  function scanReasoning(char: string, final: boolean): boolean {
    if (char.length > 1) return skipChar()
    const marker = findStartMarker(pending, at)
    if (marker === 'partial' && !final) return false
    const special = char !== '<' || /[|｜‖│]/.test(pending[at + 1] ?? '')
    if (typeof marker !== 'object' || !(special || quotes.isAtLineStart())) return skipChar()
    const quoted = quotes.isQuoted(pending, at, final)
    if (quoted === undefined) return false
    const scope = { isFinal: final, findSchema: () => ({}), hasToolWithPrefix: () => true }
    const read = readAtMarker(pending, at, marker, scope)
    if (quoted || read.kind === 'prose') return skipChar()
    // Markup of this length is more than a mention.
    if (read.kind === 'open' && !final && pending.length - at < MAX_PATTERN_CHARS) return false
    switchChannel('text', 0)
    return skipChar()
  }

  function tagAt(tag: string): 'yes' | 'no' | 'partial' {
    if (pending.startsWith(tag, at)) return 'yes'
    return pending.length - at < tag.length && tag.startsWith(pending.slice(at)) ? 'partial' : 'no'
  }

  function scan(final: boolean): TextOrReasoning[] {
    while (at < pending.length && advance(final));
    emit(at)
    rescanLength = pending.length > RESCAN_THRESHOLD_CHARS ? 2 * pending.length : 0
    const out = pieces
    pieces = []
    return out
  }

  return {
    push(text: string): TextOrReasoning[] {
      pending += text
      return pending.length < rescanLength ? [] : scan(false)
    },
    end: () => scan(true),
  }
}

const RESCAN_THRESHOLD_CHARS = 256

const THINK_TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<mm:think>', '</mm:think>'],
] as const
