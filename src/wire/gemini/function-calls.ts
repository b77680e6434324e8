import { defined } from '../../model/defined.ts'
import { filterObjects, isObject, type JsonObject, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { createFieldFilter } from '../other-fields.ts'
import { getPartData, toNativeItem, type GeminiPart } from './parts.ts'
import { type PartialArgsWriter, createPartialArgsWriter } from './partial-args.ts'

interface SeenCall {
  readonly pendingCall: PendingCall
  readonly part: GeminiPart
  readonly given: GeminiPart
  readonly id: string | undefined
  readonly name: string | undefined
  readonly frame: number
  readonly args: string
  isAnswered: boolean
}

/**
 * Each `functionCall` part is a separate call, unless it repeats or continues another one. Calls close at the end of the
 * response, because until then a call may be repeated, or be run by the vendor.
 */
export function createFunctionCallTracker(builder: TurnBuilder) {
  const seenCalls: SeenCall[] = []
  /** Calls that may be repeated: by their id, or else by their signature. */
  const repeatable = new Map<string, SeenCall[]>()
  let frames = 0
  let lastFrameText: string | undefined
  let partial: { readonly call: PendingCall; readonly index: number; readonly writer: PartialArgsWriter } | undefined

  function write(text: string): void {
    if (partial && text !== '') builder.calls.extend(partial.call, { args: text })
  }

  function closePartial(): void {
    if (!partial) return
    write(partial.writer.end())
    const { broken } = partial.writer
    if (broken !== undefined) builder.warn('partial-args', `The arguments of a call are incomplete: ${broken} (T128).`)
    partial = undefined
  }

  /** Does this continue a call that is sent in pieces? Only its first piece has the name. */
  function continuesPartial(id: string | undefined, name: string | undefined): boolean {
    if (!partial) return false
    if (name !== undefined && name !== partial.call.nameFragments[0]) return false
    return id === undefined ? name === undefined : id === partial.call.wireId
  }

  /** The earlier version of a call: same id, or same signature and arguments (T128); not of the same frame (T10). */
  function repeats(part: GeminiPart, functionCall: GeminiPart): SeenCall | undefined {
    const id = nonBlankString(functionCall['id'])
    const name = nonBlankString(functionCall['name'])
    const args = JSON.stringify(functionCall['args'] ?? '')
    const same = (one: SeenCall): boolean => id !== undefined || includesAll(functionCall['args'], one.given['args'])
    return repeatable
      .get(getRepeatKey(id, nonBlankString(part['thoughtSignature'])))
      ?.find((one) => one.name === name && same(one) && (one.frame !== frames || one.args === args))
  }

  function open(part: GeminiPart, functionCall: GeminiPart): void {
    const id = nonBlankString(functionCall['id'])
    const name = nonBlankString(functionCall['name'])
    const pieces = functionCall['partialArgs']
    const inPieces = functionCall['willContinue'] === true || Array.isArray(pieces)
    const index = seenCalls.length
    const pendingCall = builder.calls.open({ id, name, ...(inPieces ? { index } : { args: functionCall['args'] }) })
    const args = JSON.stringify(functionCall['args'] ?? '')
    const one: SeenCall = { pendingCall, part, given: functionCall, id, name, frame: frames, args, isAnswered: false }
    seenCalls.push(one)
    const signature = nonBlankString(part['thoughtSignature'])
    if (id !== undefined || signature !== undefined) {
      const key = getRepeatKey(id, signature)
      repeatable.set(key, [...(repeatable.get(key) ?? []), one])
    }
    attachData(pendingCall, part, functionCall)
    if (!inPieces) return
    partial = { call: pendingCall, index, writer: createPartialArgsWriter() }
    extend(functionCall)
  }

  function extend(functionCall: GeminiPart): void {
    if (!partial) return
    for (const piece of filterObjects(functionCall['partialArgs']))
      builder.warnOtherFields('a piece of the arguments', pickPieceFields(piece))
    write(partial.writer.push(functionCall['partialArgs']))
    const { call: pendingCall } = partial
    if (functionCall['willContinue'] !== true) closePartial()
    if (isObject(functionCall['args']) && Object.keys(functionCall['args']).length > 0)
      builder.calls.replaceArguments(pendingCall, functionCall['args'])
  }

  return {
    /** Returns true if the frame only repeats the calls of the previous frame. */
    startFrame(parts: readonly GeminiPart[], frame: unknown): boolean {
      frames++
      const calls = parts.map((part) => part['functionCall']).filter(isObject)
      // Without ids, a frame is a repeat and not a second call only if it is identical to the last one.
      const idless = calls.some(
        (call) => nonBlankString(call['id']) === undefined && !('partialArgs' in call) && !('willContinue' in call),
      )
      const text =
        idless && calls.some((call) => nonBlankString(call['name']) !== undefined) ? JSON.stringify(frame) : undefined
      const again = text !== undefined && text === lastFrameText
      lastFrameText = text
      if (again) builder.warn('repeated-call', 'A frame with calls was sent twice; the repeat was dropped (T128).')
      return again
    },
    addCall(part: GeminiPart, functionCall: GeminiPart): void {
      const id = nonBlankString(functionCall['id'])
      const name = nonBlankString(functionCall['name'])
      if (continuesPartial(id, name)) {
        if (partial) attachData(partial.call, part, functionCall)
        return extend(functionCall)
      }
      closePartial()
      const { args, partialArgs } = functionCall
      if ([name, id, args, partialArgs].every((field) => field === undefined))
        return builder.warn('ghost-call', 'A call without a name and arguments was ignored (T08, T28).')
      // Arguments for a call that is over: it is not known what else is missing.
      if (name === undefined && 'partialArgs' in functionCall && seenCalls.some((one) => one.id === id))
        return builder.markCorrupt('Arguments were received for a call that had ended (T128).')
      const before = repeats(part, functionCall)
      if (!before) return open(part, functionCall)
      builder.warn('repeated-call', 'A call was sent again; the last version is used (T128).')
      builder.calls.replaceArguments(before.pendingCall, functionCall['args'])
      attachData(before.pendingCall, part, functionCall)
    },
    /** A part of another kind was received, so a call that was sent in pieces is complete (T128). */
    closePartialCall: closePartial,
    /** The vendor ran a call itself. */
    markAnswered(response: GeminiPart): void {
      const id = nonBlankString(response['id'])
      const name = nonBlankString(response['name'])
      const isSameCall = (one: SeenCall) =>
        id !== undefined && one.id !== undefined ? one.id === id : one.name === name
      const call = seenCalls.find((one) => !one.isAnswered && isSameCall(one))
      if (!call) return
      call.isAnswered = true
      const { partIndex, isAnnounced } = call.pendingCall
      builder.calls.drop(call.pendingCall)
      if (!isAnnounced) builder.emit({ type: 'part-open', index: partIndex, kind: 'text' })
      const native = builder.createNative(call.id, toNativeItem('functionCall', call.part))
      builder.emit({ type: 'part-close', index: partIndex, part: { kind: 'text', text: '', native } })
    },
    end(endedNormally: boolean): void {
      if (endedNormally) closePartial()
    },
  }
}

function getRepeatKey(id: string | undefined, signature: string | undefined): string {
  return id === undefined ? `signature ${signature ?? ''}` : `id ${id}`
}

/** A signature belongs only to the part that it was sent with (T117, T118). */
function attachData(pendingCall: PendingCall, part: GeminiPart, functionCall: GeminiPart): void {
  const data = getPartData(part)
  const callFields = pickCallFields(functionCall)
  if (data || callFields)
    pendingCall.nativeData = {
      ...(objectOrEmpty(pendingCall.nativeData) as JsonObject),
      ...data,
      ...defined({ callFields }),
    }
}

const pickCallFields = createFieldFilter('id name args partialArgs willContinue')

const pickPieceFields = createFieldFilter('jsonPath stringValue numberValue boolValue nullValue willContinue')

function includesAll(value: unknown, other: unknown): boolean {
  if (other === undefined || other === null) return true
  if (typeof value === 'string' && typeof other === 'string') return value.startsWith(other)
  if (!isObject(value) || !isObject(other)) return JSON.stringify(value) === JSON.stringify(other)
  return Object.entries(other).every(([key, inner]) => Object.hasOwn(value, key) && includesAll(value[key], inner))
}
