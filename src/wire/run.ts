import type { Native, ReasoningPart, TextPart } from '../model/turn.ts'
import type { CallAssembler } from './calls.ts'
import { readable } from './framing/utf8.ts'
import { type Rescue, startRescue } from './rescue.ts'
import type { PartEmitter } from './part-emitter.ts'

/** A part of text or reasoning that is being written. */
export interface Run {
  readonly kind: 'text' | 'reasoning'
  readonly index: number
  /** What was written so far. */
  readonly text: string
  add(text: string): void
  /** Replaces what was written by the vendor's own final word. */
  settle(text: string): void
  /** Nothing more comes. With `native` sealed on it, the part is kept even if it is empty. */
  close(native?: Native): void
  end(how: { natural: boolean; native: boolean; failed: boolean }): void
}

/**
 * Starts a run. The text is watched for calls that were written instead of made (T60–T70): from a possible marker on it
 * is held back until the answer has ended, because only then it is known what it was.
 */
export function startRun(
  emitter: PartEmitter,
  calls: CallAssembler,
  { kind, index, refusal = false }: { readonly kind: Run['kind']; readonly index: number; readonly refusal?: boolean },
): Run {
  let opened = false
  let text = ''
  let native: Native | undefined
  let closed = false
  let emitted = false
  let broken = false
  let rescue: Rescue | undefined
  let repeats = startRepeatWatch()

  function show(raw: string): void {
    if (raw === '') return
    // Not before: broken bytes in a call that is written as text must be known to whoever reads it there.
    const piece = readable(raw)
    if (piece !== raw && !broken)
      emitter.warn('broken-text', 'Bytes in the text that are no UTF-8 were replaced (T105).')
    broken ||= piece !== raw
    if (!opened) {
      opened = true
      emitter.emit({ type: 'part-open', index, kind })
    }
    text += piece
    emitter.emit({ type: 'part-delta', index, text: piece })
  }

  function finish(): void {
    if (emitted) return
    emitted = true
    const whole = repeats.whole()
    if (whole !== undefined) {
      emitter.warn('cumulative', 'Each piece repeated all text before it; the last one was taken (T20).')
      text = readable(whole)
    }
    if (text === '' && !native) return
    if (!opened) emitter.emit({ type: 'part-open', index, kind })
    const part: TextPart | ReasoningPart = { kind, text, ...(refusal && { refusal }), ...(native && { native }) }
    emitter.emit({ type: 'part-close', index, part })
  }

  return {
    kind,
    index,
    get text() {
      return text
    },
    add(piece) {
      if (piece === '') return
      repeats.add(piece)
      if (emitter.projection.tools.length === 0) return show(piece)
      rescue ??= startRescue(emitter.projection.tools)
      show(rescue.push(piece))
    },
    settle(whole) {
      if (emitted || whole === '') return
      repeats = startRepeatWatch()
      const { tools } = emitter.projection
      rescue = tools.length === 0 ? undefined : startRescue(tools)
      text = readable(rescue ? rescue.push(whole) : whole)
    },
    close(sealed) {
      closed = true
      native = sealed ?? native
      if (!rescue) finish()
    },
    end(how) {
      if (emitted) return
      if (rescue) {
        const found = rescue.end({ natural: how.natural, native: how.native || repeats.whole() !== undefined })
        const { before, replacements = [] } = found
        const replaced = replacements.map((call) => calls.replace(call))
        // Markup that became the arguments of a call is no text any more: a model copies what it finds (T63, T72).
        if (before !== undefined && replaced.every(Boolean)) show(before)
        else {
          show(found.text)
          for (const warning of found.warnings) emitter.emit({ type: 'warn', warning })
        }
        for (const call of found.calls) calls.written(call)
      }
      if (!closed && how.failed && text !== '') emitter.warn('cut-text', 'The text broke off.')
      finish()
    },
  }
}

/**
 * Notices servers that send, with each piece, everything so far (T20). One piece that extends another may be chance; a
 * chain of three or more that reaches a real length is not. The same piece again proves nothing: it may be said again.
 */
function startRepeatWatch() {
  let last: string | undefined
  let extensions = 0
  let chain = true
  return {
    add(piece: string): void {
      if (!chain) return
      if (last !== undefined && !piece.startsWith(last)) chain = false
      else if (last !== undefined && piece.length > last.length) extensions++
      last = piece
    },
    whole(): string | undefined {
      return chain && extensions >= 2 && last !== undefined && last.length >= 24 ? last : undefined
    },
  }
}
