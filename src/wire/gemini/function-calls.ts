import { isObject } from '../../model/json.ts'
import type { Slot } from '../calls.ts'
import type { Scribe } from '../scribe.ts'
import { item, type WirePart } from './parts.ts'
import { type PartialArgs, startPartialArgs } from './partial-args.ts'

/** The calls of one answer. Each `functionCall` part is a call of its own, unless it repeats one or goes on with one. */
export interface FunctionCalls {
  /** A frame begins; tells whether it only repeats the calls of the frame before it. */
  begin(parts: readonly WirePart[], frame: unknown): boolean
  call(part: WirePart, given: WirePart): void
  /** A part of another kind came, so a call that came in pieces is whole (T128). */
  pause(): void
  /** The vendor answered a call itself. */
  answer(response: WirePart): void
  /** The answer is over; `well` tells whether it ended well. */
  end(well: boolean): void
}

interface Known {
  readonly slot: Slot
  readonly part: WirePart
  readonly given: WirePart
  readonly id: string | undefined
  readonly name: string | undefined
  readonly frame: number
  readonly args: string
  answered: boolean
}

/** Starts the calls of one answer. They close at its end, because until then a call may be repeated, or answered by the vendor. */
export function startFunctionCalls(scribe: Scribe): FunctionCalls {
  const known: Known[] = []
  /** Those that may be sent again: by their id, or without one by their signature. */
  const repeatable = new Map<string, Known[]>()
  let frames = 0
  let last: string | undefined
  let partial: { readonly slot: Slot; readonly index: number; readonly writer: PartialArgs } | undefined

  function write(text: string): void {
    if (partial && text !== '') scribe.calls.extend(partial.slot, { args: text })
  }

  function closePartial(): void {
    if (!partial) return
    write(partial.writer.end())
    const { broken } = partial.writer
    if (broken !== undefined) scribe.warn('partial-args', `The arguments of a call are not whole: ${broken} (T128).`)
    partial = undefined
  }

  /** Does a call that comes in pieces go on here? Only its first piece carries the name. */
  function goesOn(id: string | undefined, name: string | undefined): boolean {
    if (!partial) return false
    if (name !== undefined && name !== partial.slot.names[0]) return false
    return id === undefined ? name === undefined : id === partial.slot.wireId
  }

  /**
   * The same call, sent again under the same id, or under the same signature and with nothing taken back: the last word
   * counts (T128). Two in one frame are two calls (T10).
   */
  function repeats(part: WirePart, given: WirePart): Known | undefined {
    const [id, name, signature] = [word(given['id']), word(given['name']), word(part['thoughtSignature'])]
    const args = JSON.stringify(given['args'] ?? '')
    const same = (one: Known): boolean => id !== undefined || holds(given['args'], one.given['args'])
    return repeatable
      .get(keyOf(id, signature))
      ?.find((one) => one.name === name && same(one) && (one.frame !== frames || one.args === args))
  }

  function open(part: WirePart, given: WirePart): void {
    const id = word(given['id'])
    const name = word(given['name'])
    const pieces = given['partialArgs']
    const inPieces = given['willContinue'] === true || Array.isArray(pieces)
    const index = known.length
    const slot = scribe.calls.open({ id, name, ...(inPieces ? { index } : { args: given['args'] }) })
    const args = JSON.stringify(given['args'] ?? '')
    const one = { slot, part, given, id, name, frame: frames, args, answered: false }
    known.push(one)
    const signature = word(part['thoughtSignature'])
    if (id !== undefined || signature !== undefined) {
      const key = keyOf(id, signature)
      repeatable.set(key, [...(repeatable.get(key) ?? []), one])
    }
    sign(slot, part)
    if (!inPieces) return
    partial = { slot, index, writer: startPartialArgs() }
    extend(given)
  }

  function extend(given: WirePart): void {
    if (!partial) return
    write(partial.writer.push(given['partialArgs']))
    const { slot } = partial
    if (given['willContinue'] !== true) closePartial()
    if (isObject(given['args']) && Object.keys(given['args']).length > 0) scribe.calls.settle(slot, given['args'])
  }

  return {
    begin(parts, frame) {
      frames++
      const calls = parts.map((part) => part['functionCall']).filter(isObject)
      // Without an id only a frame that repeats the last one in every respect is a repeat, and not a second call.
      const idless = calls.some(
        (call) => word(call['id']) === undefined && !('partialArgs' in call) && !('willContinue' in call),
      )
      const text = idless && calls.some((call) => word(call['name']) !== undefined) ? JSON.stringify(frame) : undefined
      const again = text !== undefined && text === last
      last = text
      if (again) scribe.warn('repeated-call', 'A frame with calls was sent twice; the repeat was dropped (T128).')
      return again
    },
    call(part, given) {
      const id = word(given['id'])
      const name = word(given['name'])
      if (goesOn(id, name)) {
        if (partial) sign(partial.slot, part)
        return extend(given)
      }
      closePartial()
      if (name === undefined && id === undefined && given['args'] === undefined && given['partialArgs'] === undefined) {
        return scribe.warn('ghost-call', 'A call with neither name nor arguments was ignored (T08, T28).')
      }
      // A piece of arguments whose call is over: nobody knows what else is missing.
      if (name === undefined && 'partialArgs' in given && known.some((one) => one.id === id))
        return scribe.taint('Arguments came for a call that had ended (T128).')
      const before = repeats(part, given)
      if (!before) return open(part, given)
      scribe.warn('repeated-call', 'A call was sent again; the last word counts (T128).')
      scribe.calls.settle(before.slot, given['args'])
      sign(before.slot, part)
    },
    pause: closePartial,
    answer(response) {
      const id = word(response['id'])
      const name = word(response['name'])
      const asked = (one: Known) => (id !== undefined && one.id !== undefined ? one.id === id : one.name === name)
      const call = known.find((one) => !one.answered && asked(one))
      if (!call) return
      call.answered = true
      const { index, opened } = call.slot
      scribe.calls.drop(call.slot)
      if (!opened) scribe.emit({ type: 'part-open', index, kind: 'text' })
      const native = scribe.seal(call.id, item('functionCall', call.part))
      scribe.emit({ type: 'part-close', index, part: { kind: 'text', text: '', native } })
    },
    end(well) {
      if (well) closePartial()
    },
  }
}

function keyOf(id: string | undefined, signature: string | undefined): string {
  return id === undefined ? `signature ${signature ?? ''}` : `id ${id}`
}

/** A signature belongs to the part that carried it, and to no other (T117, T118). */
function sign(slot: Slot, part: WirePart): void {
  const signature = word(part['thoughtSignature'])
  if (signature !== undefined) slot.data = { thoughtSignature: signature }
}

/** Does a value say all that another said, and perhaps more? */
function holds(value: unknown, other: unknown): boolean {
  if (other === undefined || other === null) return true
  if (typeof value === 'string' && typeof other === 'string') return value.startsWith(other)
  if (!isObject(value) || !isObject(other)) return JSON.stringify(value) === JSON.stringify(other)
  return Object.entries(other).every(([key, inner]) => Object.hasOwn(value, key) && holds(value[key], inner))
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
