import { REACH } from './rescue/dialect.ts'
import { openerAt, SPOT } from './rescue/opener.ts'
import { startQuote } from './rescue/quote.ts'

/** A piece of an answer: what was said, or what was thought. */
export interface ThinkPiece {
  readonly channel: 'text' | 'reasoning'
  readonly text: string
}

/** Splits thoughts from a text that carries both. */
export interface Think {
  push(text: string): ThinkPiece[]
  end(): ThinkPiece[]
}

/**
 * Starts to split (T71). A thought begins with its tag at the start of a line outside quotes, since prose may mention
 * the tag, and lasts to its closing tag, or to the end. The markup of a call ends it too, for a call is never part of a
 * thought (T70). `inside` is for models whose prompt already opened the thought.
 */
export function startThink(inside = false): Think {
  let quote = startQuote()
  let pending = ''
  let at = 0
  let channel: ThinkPiece['channel'] = inside ? 'reasoning' : 'text'
  /** The tag that ends the thought; it is dropped, too, after a call has ended it. */
  let closer = inside ? '</think>' : ''
  /** White space after a tag belongs to the tag. */
  let fresh = inside
  let pieces: ThinkPiece[] = []

  function emit(to: number): void {
    const text = fresh ? pending.slice(0, to).trimStart() : pending.slice(0, to)
    if (text !== '') {
      const last = pieces.at(-1)
      if (last?.channel === channel) pieces[pieces.length - 1] = { channel, text: last.text + text }
      else pieces.push({ channel, text })
      fresh = false
    }
    pending = pending.slice(to)
    at -= to
  }

  function turn(to: ThinkPiece['channel'], tag: number): void {
    emit(at)
    channel = to
    quote = startQuote()
    if (tag === 0) return
    pending = pending.slice(tag)
    fresh = true
  }

  function step(): boolean {
    quote.pass(pending, at, at + 1)
    at++
    return true
  }

  /** One step; false if more text is needed. */
  function advance(final: boolean): boolean {
    SPOT.lastIndex = at
    const hit = SPOT.exec(pending)
    const spot = hit ? hit.index : pending.length
    quote.pass(pending, at, spot)
    at = spot
    if (!hit) return false
    const char = hit[0]
    if (char === '\n') {
      quote.newline()
      at++
      return true
    }
    if (char === '`' || char === '~') {
      const length = quote.ticks(pending, at, final)
      at += length
      return length > 0
    }
    const closing = closer === '' ? 'no' : tagAt(closer)
    if (closing === 'partial' && !final) return false
    if (closing === 'yes') {
      const length = closer.length
      closer = ''
      turn('text', length)
      return true
    }
    return channel === 'text' ? overText(final) : overThought(char, final)
  }

  function overText(final: boolean): boolean {
    if (!quote.atLineStart || closer !== '') return step()
    for (const [open, close] of TAGS) {
      const opening = tagAt(open)
      if (opening === 'no' || (opening === 'partial' && final)) continue
      const quoted = opening === 'partial' ? undefined : quote.quoted(pending, at, final)
      if (quoted === undefined) return false
      if (quoted) continue
      closer = close
      turn('reasoning', open.length)
      return true
    }
    return step()
  }

  function overThought(char: string, final: boolean): boolean {
    if (char.length > 1) return step()
    const dialect = openerAt(pending, at)
    if (dialect === 'partial' && !final) return false
    const special = char !== '<' || /[|｜‖│]/.test(pending[at + 1] ?? '')
    if (dialect === undefined || dialect === 'partial' || !(special || quote.atLineStart)) return step()
    const quoted = quote.quoted(pending, at, final)
    if (quoted === undefined) return false
    const read = dialect.read(pending, at, { final, schema: () => ({}) })
    if (quoted || read.kind === 'prose') return step()
    // Once it has gone on this long, it is more than a mention.
    if (read.kind === 'open' && !final && pending.length - at < REACH) return false
    turn('text', 0)
    return step()
  }

  function tagAt(tag: string): 'yes' | 'no' | 'partial' {
    if (pending.startsWith(tag, at)) return 'yes'
    return pending.length - at < tag.length && tag.startsWith(pending.slice(at)) ? 'partial' : 'no'
  }

  function run(final: boolean): ThinkPiece[] {
    while (at < pending.length && advance(final));
    emit(at)
    const out = pieces
    pieces = []
    return out
  }

  return {
    push(text) {
      pending += text
      return run(false)
    },
    end: () => run(true),
  }
}

const TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<mm:think>', '</mm:think>'],
] as const
