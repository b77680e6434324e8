import type { Warning } from '../model/event.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { isWellFormed } from '../model/text.ts'
import type { CallPart, Flaw } from '../model/turn.ts'
import { validate } from '../schema/validate.ts'
import { decodeEntities, readArguments } from './arguments.ts'
import { resolveName } from './call-name.ts'
import type { Slot } from './calls.ts'
import { readable } from './framing/utf8.ts'
import type { PartEmitter } from './part-emitter.ts'

/** What became of a slot: usually one call, several if it held several objects (T22, T142), none if it was a ghost. */
export interface Closing {
  readonly parts: readonly CallPart[]
  readonly warnings: readonly Warning[]
  readonly ghost?: true
}

interface Context {
  readonly emitter: PartEmitter
  readonly declared: readonly string[]
  /** Did the vendor say that the call, or the answer, is over? */
  readonly ended: boolean
}

/** Closes a call: settles its name, reads its arguments without inventing anything, and says why it must not run if it must not. */
export function closeCall(slot: Slot, { emitter, declared, ended }: Context): Closing {
  const { projection, reading } = emitter
  const wireName = resolveName(slot.names, declared)
  const name = projection.toolName(readable(wireName))
  if (slot.names.length === 1 && slot.names[0] !== wireName)
    emitter.warn(
      'decorated-name',
      `The call named “${slot.names[0]?.slice(0, 80)}”, which was read as ${wireName} (T65).`,
    )
  const native = emitter.seal(slot.wireId, slot.data)
  const call = { kind: 'call', id: '', name, raw: readable(slot.raw), native } as const
  // One id and one signature belong to one part, also where a slot falls apart into several calls (T10, T118).
  const sealed = (at: number) => (at === 0 ? native : emitter.seal(undefined))
  if (wireName === '' && slot.raw.trim() === '') return { parts: [], warnings: [], ghost: true }

  const flawed = (code: Flaw['code'], message: string): Closing => ({
    parts: [{ ...call, flaw: { code, message } }],
    warnings: [],
  })
  if (reading.toolChoice === 'none') return flawed('forbidden', 'The model was told not to call, and called (T153).')
  if (wireName === '') return flawed('unnamed', 'The call has arguments but no name (T08).')
  if (slot.ambiguous) return flawed('ambiguous', 'Its arguments may be mixed with those of another call.')
  if (!ended) return flawed('unfinished', 'The answer ended without an end signal, so the call may not be whole (T53).')
  if (!isWellFormed([slot.raw, ...slot.names, ...slot.ids])) return flawed('not-json', NOT_UTF8)
  if (slot.freeform) return { parts: [{ ...call, freeform: true, input: { input: slot.raw } }], warnings: [] }

  const arguments_ = argumentsOf(slot)
  const read = arguments_.read
  if (!read.ok) return flawed(read.code, read.message)
  const tool = projection.tools.find((one) => one.name === wireName)
  const inputs = read.inputs.map((args) =>
    projection.toInput(name, reading.profile.entities ? decodeEntities(args) : args),
  )

  // An escape may name half a character; a tool could only put something else in its place.
  if (!isWellFormed(inputs)) return flawed('not-json', NOT_UTF8)

  const wrapped = inputs.length === 1 ? unwrapParallel(wireName, inputs[0] ?? {}, declared) : undefined
  if (wrapped) {
    const parts = wrapped.map((one, at) => {
      const inner = projection.toolName(one.name)
      return {
        ...call,
        name: inner,
        raw: JSON.stringify(one.args),
        native: sealed(at),
        input: projection.toInput(inner, one.args),
      }
    })
    const warning = {
      code: 'parallel-wrapper',
      message: `${wireName} was taken apart into its ${parts.length} calls (T142).`,
    }
    return { parts, warnings: [...read.notes, warning] }
  }
  if (inputs.length > 1) {
    const schema = reading.tools.find((one) => one.name === name)?.schema
    const invalid = tool && schema && inputs.some((input) => validate(schema, input).length > 0)
    // Where the wire itself tells calls apart, a second object has strayed from another call.
    if (invalid || slot.placed)
      return flawed('not-object', 'The call holds several argument objects; make one call for each (T22).')
    const parts = inputs.map((input, at) => ({
      ...call,
      raw: JSON.stringify(read.inputs[at]),
      native: sealed(at),
      input,
    }))
    return { parts, warnings: read.notes }
  }
  return { parts: [{ ...call, raw: arguments_.raw, input: inputs[0] ?? {} }], warnings: read.notes }
}

const NOT_UTF8 =
  'The call holds bytes that are no valid UTF-8, or half of a surrogate pair, so it is not known what was meant. Make the call again with valid text.'

/** The arguments as sent in pieces; where that cannot be read and every piece repeats the one before, the last piece (T20). */
function argumentsOf(slot: Slot) {
  const read = readArguments(slot.raw)
  if (read.ok || slot.chain === undefined || slot.pieces < 2) return { raw: slot.raw, read }
  const last = readArguments(slot.chain)
  if (!last.ok) return { raw: slot.raw, read }
  const note = {
    code: 'cumulative',
    message: 'Each piece repeated the arguments so far; the last one was taken (T20).',
  }
  return { raw: slot.chain, read: { ...last, notes: [...last.notes, note] } }
}

/** A model's internal wrapper around parallel calls, where the server let it leak (T142). */
function unwrapParallel(name: string, args: JsonObject, declared: readonly string[]) {
  if (!/^(multi_tool_use[._])?parallel$/.test(name) || declared.includes(name) || !Array.isArray(args['tool_uses']))
    return undefined
  const uses = args['tool_uses'].map((use) => {
    const recipient = isObject(use) && typeof use['recipient_name'] === 'string' ? use['recipient_name'] : ''
    const parameters = isObject(use) && isObject(use['parameters']) ? use['parameters'] : {}
    return { name: recipient.replace(/^functions[.:]/, ''), args: parameters }
  })
  return uses.length > 0 && uses.every((use) => declared.includes(use.name)) ? uses : undefined
}
