import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import { hasOnlyWellFormedStrings } from '../../model/text.ts'
import type { CallPart, CallFlaw } from '../../model/turn.ts'
import { validate } from '../../schema/validate/validate.ts'
import { decodeEntities } from './html-entities.ts'
import { parseCallArguments } from './parse-arguments.ts'
import { resolveCallName } from './call-name.ts'
import type { PendingCall } from './call-assembler.ts'
import { replaceInvalidBytes } from '../framing/utf8-decoder.ts'
import type { PartEmitter } from '../turn/part-emitter.ts'

/** Usually one part; several if the call contains several argument objects (T22, T142), none if it is empty. */
interface ClosedCall {
  readonly parts: readonly CallPart[]
  readonly warnings: readonly Warning[]
  readonly isEmpty?: true
}

interface CloseContext {
  readonly emitter: PartEmitter
  readonly toolNames: readonly string[]
  /** Did the vendor signal the end of the call or of the response? */
  readonly hasEnded: boolean
}

/** Closes a call: decides its name, parses its arguments, and rejects it if it must not run. */
export function closeCall(pendingCall: PendingCall, closing: CloseContext): ClosedCall {
  const closed = readCall(pendingCall, closing)
  const { toolChoice } = closing.emitter.context
  if (!isObject(toolChoice) || !('only' in toolChoice)) return closed
  return { ...closed, parts: closed.parts.map((part) => rejectOtherTool(part, toolChoice.only)) }
}

/** Not every API can restrict the choice of tools, and servers ignore it (T153). */
function rejectOtherTool(call: CallPart, names: readonly string[]): CallPart {
  if (call.flaw || names.includes(call.name)) return call
  const { input: _input, ...rest } = call
  const message = `Only these tools may be called in this request: ${names.join(', ') || 'none'} (T153).`
  return { ...rest, flaw: { code: 'forbidden', message } }
}

function readCall(pendingCall: PendingCall, { emitter, toolNames, hasEnded }: CloseContext): ClosedCall {
  const { projection, context } = emitter
  const wireName = resolveCallName(pendingCall.nameFragments, toolNames)
  const name = projection.toToolName(replaceInvalidBytes(wireName))
  if (pendingCall.nameFragments.length === 1 && pendingCall.nameFragments[0] !== wireName)
    emitter.warn('decorated-name', `The name “${pendingCall.nameFragments[0]?.slice(0, 80)}” means ${wireName} (T65).`)
  const native = emitter.createNative(pendingCall.wireId, pendingCall.nativeData)
  const call = { kind: 'call', id: '', name, raw: replaceInvalidBytes(pendingCall.raw), native } as const
  // An id and a signature belong to one part only, also if a call is split into several (T10, T118).
  const nativeAt = (at: number) => (at === 0 ? native : emitter.createNative(undefined))
  if (wireName === '' && pendingCall.raw.trim() === '') return { parts: [], warnings: [], isEmpty: true }

  const createFlawed = (code: CallFlaw['code'], message: string): ClosedCall => ({
    parts: [{ ...call, flaw: { code, message } }],
    warnings: [],
  })
  if (context.toolChoice === 'none') return createFlawed('forbidden', 'Calls are forbidden in this request (T153).')
  if (wireName === '') return createFlawed('unnamed', 'The call has arguments but no name (T08).')
  if (pendingCall.isAmbiguous)
    return createFlawed('ambiguous', 'The arguments may be mixed with those of another call.')
  if (!hasEnded)
    return createFlawed('unfinished', 'The response ended without an end signal, so the call may be incomplete (T53).')
  const { raw, read } = pendingCall.isFreeform ? { raw: pendingCall.raw } : readPendingArguments(pendingCall)
  // Of fragments that repeat each other, only the last one counts: the others may end inside a character (T20).
  if (!hasOnlyWellFormedStrings([raw, ...pendingCall.nameFragments, ...pendingCall.ids]))
    return createFlawed('not-json', NOT_UTF8_MESSAGE)
  if (!read) return { parts: [{ ...call, freeform: true, input: { input: raw } }], warnings: [] }
  if (!read.ok) return createFlawed(read.code, read.message)
  const tool = projection.tools.find((one) => one.name === wireName)
  const inputs = read.inputs.map((args) =>
    projection.toToolInput(name, context.profile.entities ? decodeEntities(args) : args),
  )

  // An escape sequence may be a lone surrogate, which a tool could not write.
  if (!hasOnlyWellFormedStrings(inputs)) return createFlawed('not-json', NOT_UTF8_MESSAGE)

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
    const message = `${wireName} was split into its ${parts.length} calls (T142).`
    return { parts, warnings: [...read.notes, { code: 'parallel-wrapper', message }] }
  }
  if (inputs.length > 1) {
    const schema = context.tools.find((one) => one.name === name)?.schema
    const invalid = tool && schema && inputs.some((input) => validate(schema, input).length > 0)
    // If the wire itself separates calls, the second object belongs to another call.
    if (invalid || pendingCall.isSeparate)
      return createFlawed('not-object', 'The call has several argument objects. Make one call for each (T22).')
    const parts = inputs.map((input, at) => ({
      ...call,
      raw: JSON.stringify(read.inputs[at]),
      native: nativeAt(at),
      input,
    }))
    return { parts, warnings: read.notes }
  }
  return { parts: [{ ...call, raw, input: inputs[0] ?? {} }], warnings: read.notes }
}

const NOT_UTF8_MESSAGE =
  'The call contains invalid UTF-8 or a lone surrogate, so its meaning is not certain. Make the call again with valid text.'

/** The joined fragments; if these are invalid and each fragment repeats the previous one, the last fragment (T20). */
function readPendingArguments(pendingCall: PendingCall) {
  const read = parseCallArguments(pendingCall.raw)
  if (read.ok || pendingCall.cumulativeText === undefined || pendingCall.fragmentCount < 2)
    return { raw: pendingCall.raw, read }
  const last = parseCallArguments(pendingCall.cumulativeText)
  if (!last.ok) return { raw: pendingCall.raw, read }
  const message = 'Each fragment repeated the arguments so far; the last one was used (T20).'
  return {
    raw: pendingCall.cumulativeText,
    read: { ...last, notes: [...last.notes, { code: 'cumulative', message }] },
  }
}

/** The calls inside a model's internal wrapper for parallel calls, which some servers pass on (T142). */
function unwrapParallel(name: string, args: JsonObject, toolNames: readonly string[]) {
  if (!/^(multi_tool_use[._])?parallel$/.test(name) || toolNames.includes(name) || !Array.isArray(args['tool_uses']))
    return undefined
  const uses = args['tool_uses'].map((use) => {
    const { recipient_name: recipient, parameters } = objectOrEmpty(use)
    return {
      name: stringOrEmpty(recipient).replace(/^functions[.:]/, ''),
      args: objectOrEmpty(parameters) as JsonObject,
    }
  })
  return uses.length > 0 && uses.every((use) => toolNames.includes(use.name)) ? uses : undefined
}
