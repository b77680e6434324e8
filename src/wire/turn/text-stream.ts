import type { NativeData, ReasoningPart, TextPart } from '../../model/turn.ts'
import type { CallAssembler } from '../calls/call-assembler.ts'
import { replaceInvalidBytes } from '../framing/utf8-decoder.ts'
import {
  createTextCallParser,
  type ParsedTextCalls,
  type TextCallParser,
  type TextOutcome,
} from '../text-calls/text-call-parser.ts'
import type { PartEmitter } from './part-emitter.ts'
import { defined } from '../../model/defined.ts'

/** A part of text or reasoning that is being received. */
export type TextStream = ReturnType<typeof createTextStream>

export interface TextStreamOptions {
  readonly refusal?: boolean
  /** What is known of its native data at its start. */
  readonly native?: NativeData | undefined
}

/** Text from a possible call marker on (T60–T70) is held back until the response has ended. */
export function createTextStream(
  emitter: PartEmitter,
  calls: CallAssembler,
  kind: 'text' | 'reasoning',
  index: number,
  { refusal, native: openingNative }: TextStreamOptions = {},
) {
  let opened = false
  let text = ''
  let native = openingNative
  let closed = false
  let isEmitted = false
  let hasInvalidBytes = false
  let parser: TextCallParser | undefined
  let found: ParsedTextCalls | undefined
  let cumulative = createCumulativeTextDetector()

  function emitOpen(openNative?: NativeData): void {
    emitter.emit({
      type: 'part-open',
      index,
      kind,
      ...(refusal && { refusal: true }),
      ...defined({ native: openNative }),
    })
  }

  function createParser(): TextCallParser | undefined {
    const { projection, context } = emitter
    if (projection.tools.length === 0 || context.toolChoice === 'none' || refusal) return undefined
    return createTextCallParser(projection.tools, { isJsonExpected: kind === 'text' && context.output !== undefined })
  }

  function show(raw: string): void {
    if (raw === '') return
    // Not earlier: the parser of calls in the text must see the invalid bytes.
    const piece = replaceInvalidBytes(raw)
    if (piece !== raw && !hasInvalidBytes) emitter.warn('broken-text', 'Invalid UTF-8 in the text was replaced (T105).')
    hasInvalidBytes ||= piece !== raw
    if (!opened) {
      opened = true
      emitOpen(openingNative)
    }
    text += piece
    emitter.emit({ type: 'part-delta', index, kind, text: piece })
  }

  function finish(): void {
    if (isEmitted) return
    isEmitted = true
    const wholeText = cumulative.whole()
    if (wholeText !== undefined) {
      emitter.warn('cumulative', 'Each delta repeated all text before it; the last one was used (T20).')
      text = replaceInvalidBytes(wholeText)
    }
    if (text === '' && !native) return
    if (!opened) emitOpen()
    const part: TextPart | ReasoningPart = {
      kind,
      text,
      ...(refusal && { refusal: true as const }),
      ...defined({ native }),
    }
    emitter.emit({ type: 'part-close', index, part })
  }

  return {
    kind,
    getText: () => text,
    append(piece: string): void {
      if (piece === '') return
      cumulative.add(piece)
      parser ??= createParser()
      show(parser ? parser.push(piece) : piece)
    },
    /** Replaces the text by the vendor's final version. */
    replaceText(wholeText: string): void {
      if (isEmitted || wholeText === '') return
      cumulative = createCumulativeTextDetector()
      parser = createParser()
      text = replaceInvalidBytes(parser ? parser.push(wholeText) : wholeText)
    },
    /** The part is complete. With native data it is kept even if it is empty. */
    close(partNative?: NativeData): void {
      closed = true
      native = partNative ?? native
      if (!parser) finish()
    },
    /** Reads the calls in the text; `end` adds them. */
    readCalls(outcome: TextOutcome): void {
      if (isEmitted) return
      found = parser?.end({ ...outcome, hasNativeCalls: outcome.hasNativeCalls || cumulative.whole() !== undefined })
    },
    /** Is there anything to read for a person? Complete only after `readCalls`. */
    hasText: () => `${text}${found?.text ?? ''}`.trim() !== '',
    end(hasFailed: boolean): void {
      if (isEmitted) return
      if (found) {
        const { textWithoutCalls, replacements = [] } = found
        const replaced = replacements.map((call) => calls.fillArguments(call))
        // Markup that became the arguments of a call is removed from the text: a model copies what it finds (T63, T72).
        if (textWithoutCalls !== undefined && replaced.every(Boolean)) show(textWithoutCalls)
        else {
          show(found.text)
          for (const warning of found.warnings) emitter.emit({ type: 'warn', warning })
        }
        for (const call of found.calls) calls.addTextCall(call)
      }
      if (!closed && hasFailed && text !== '') emitter.warn('cut-text', 'The text is truncated.')
      finish()
    },
  }
}

/** Detects deltas that each contain the whole text so far (T20): three or more, each extending the last one. */
function createCumulativeTextDetector() {
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
