import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { isWellFormed } from '../../model/text.ts'
import type { CallPart, CallFlaw } from '../../model/turn.ts'
import { validate } from '../../schema/validate/validate.ts'
import { decodeEntities, parseArguments } from './parse-arguments.ts'
import { resolveCallName } from './call-name.ts'
import type { PendingCall } from './call-assembler.ts'
import { replaceInvalidBytes } from '../framing/utf8.ts'
import type { PartEmitter } from '../turn/part-emitter.ts'

/** What became of a slot: usually one call, several if it held several objects (T22, T142), none if it was a ghost. */
export interface ClosedCall {
  readonly parts: readonly CallPart[]
  readonly warnings: readonly Warning[]
  readonly isEmpty?: true
}

interface CloseContext {
  readonly emitter: PartEmitter
  readonly toolNames: readonly string[]
  /** Did the vendor say that the call, or the answer, is over? */
  readonly hasEnded: boolean
}

/** Closes a call: settles its name, reads its arguments without inventing anything, and says why it must not run if it must not. */
export function closeCall(pendingCall: PendingCall, { emitter, toolNames, hasEnded }: CloseContext): ClosedCall {
  const { projection, context } = emitter
  const wireName = resolveCallName(pendingCall.nameFragments, toolNames)
  const name = projection.toToolName(replaceInvalidBytes(wireName))
  if (pendingCall.nameFragments.length === 1 && pendingCall.nameFragments[0] !== wireName)
    emitter.warn(
      'decorated-name',
      `The call named “${pendingCall.nameFragments[0]?.slice(0, 80)}”, which was read as ${wireName} (T65).`,
    )
  const native = emitter.createNative(pendingCall.wireId, pendingCall.nativeData)
  const call = { kind: 'call', id: '', name, raw: replaceInvalidBytes(pendingCall.raw), native } as const
  // One id and one signature belong to one part, also where a slot falls apart into several calls (T10, T118).
  const nativeAt = (at: number) => (at === 0 ? native : emitter.createNative(undefined))
  if (wireName === '' && pendingCall.raw.trim() === '') return { parts: [], warnings: [], isEmpty: true }

  const createFlawed = (code: CallFlaw['code'], message: string): ClosedCall => ({
    parts: [{ ...call, flaw: { code, message } }],
    warnings: [],
  })
  if (context.toolChoice === 'none')
    return createFlawed('forbidden', 'The model was told not to call, and called (T153).')
  if (wireName === '') return createFlawed('unnamed', 'The call has arguments but no name (T08).')
  if (pendingCall.isAmbiguous)
    return createFlawed('ambiguous', 'Its arguments may be mixed with those of another call.')
  if (!hasEnded)
    return createFlawed('unfinished', 'The answer ended without an end signal, so the call may not be whole (T53).')
  if (!isWellFormed([pendingCall.raw, ...pendingCall.nameFragments, ...pendingCall.ids]))
    return createFlawed('not-json', NOT_UTF8_MESSAGE)
  if (pendingCall.isFreeform)
    return { parts: [{ ...call, freeform: true, input: { input: pendingCall.raw } }], warnings: [] }

  const arguments_ = readPendingArguments(pendingCall)
  const read = arguments_.read
  if (!read.ok) return createFlawed(read.code, read.message)
  const tool = projection.tools.find((one) => one.name === wireName)
  const inputs = read.inputs.map((args) =>
    projection.toToolInput(name, context.profile.entities ? decodeEntities(args) : args),
  )

  // An escape may name half a character; a tool could only put something else in its place.
  if (!isWellFormed(inputs)) return createFlawed('not-json', NOT_UTF8_MESSAGE)

  const unwrapped = inputs.length === 1 ? unwrapParallel(wireName, inputs[0] ?? {}, toolNames) : undefined
  if (unwrapped) {
    const parts = unwrapped.map((one, at) => {
      const inner = projection.toToolName(one.name)
      return {
        ...call,
        name: inner,
        raw: JSON.stringify(one.args),
        native: nativeAt(at),
        input: projection.toToolInput(inner, one.args),
      }
    })
    const warning = {
      code: 'parallel-wrapper',
      message: `${wireName} was taken apart into its ${parts.length} calls (T142).`,
    }
    return { parts, warnings: [...read.notes, warning] }
  }
  if (inputs.length > 1) {
    const schema = context.tools.find((one) => one.name === name)?.schema
    const invalid = tool && schema && inputs.some((input) => validate(schema, input).length > 0)
    // Where the wire itself tells calls apart, a second object has strayed from another call.
    if (invalid || pendingCall.isSeparate)
      return createFlawed('not-object', 'The call holds several argument objects; make one call for each (T22).')
    const parts = inputs.map((input, at) => ({
      ...call,
      raw: JSON.stringify(read.inputs[at]),
      native: nativeAt(at),
      input,
    }))
    return { parts, warnings: read.notes }
  }
  return { parts: [{ ...call, raw: arguments_.raw, input: inputs[0] ?? {} }], warnings: read.notes }
}

const NOT_UTF8_MESSAGE =
  'The call holds bytes that are no valid UTF-8, or half of a surrogate pair, so it is not known what was meant. Make the call again with valid text.'

/** The arguments as sent in pieces; where that cannot be read and every piece repeats the one before, the last piece (T20). */
function readPendingArguments(pendingCall: PendingCall) {
  const read = parseArguments(pendingCall.raw)
  if (read.ok || pendingCall.cumulativeText === undefined || pendingCall.fragmentCount < 2)
    return { raw: pendingCall.raw, read }
  const last = parseArguments(pendingCall.cumulativeText)
  if (!last.ok) return { raw: pendingCall.raw, read }
  const note = {
    code: 'cumulative',
    message: 'Each piece repeated the arguments so far; the last one was taken (T20).',
  }
  return { raw: pendingCall.cumulativeText, read: { ...last, notes: [...last.notes, note] } }
}

/** A model's internal wrapper around parallel calls, where the server let it leak (T142). */
function unwrapParallel(name: string, args: JsonObject, toolNames: readonly string[]) {
  if (!/^(multi_tool_use[._])?parallel$/.test(name) || toolNames.includes(name) || !Array.isArray(args['tool_uses']))
    return undefined
  const uses = args['tool_uses'].map((use) => {
    const recipient = isObject(use) && typeof use['recipient_name'] === 'string' ? use['recipient_name'] : ''
    const parameters = isObject(use) && isObject(use['parameters']) ? use['parameters'] : {}
    return { name: recipient.replace(/^functions[.:]/, ''), args: parameters }
  })
  return uses.length > 0 && uses.every((use) => toolNames.includes(use.name)) ? uses : undefined
}
