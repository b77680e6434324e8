import { callId } from '../model/ids.ts'
import { canonical, type Json } from '../model/json.ts'
import { nameCandidates, resolveName } from './call-name.ts'
import { closeCall } from './call-close.ts'
import { startCopies } from './copies.ts'
import { type JsonScan, jsonScan, readArguments } from './arguments.ts'
import type { WrittenCall } from './rescue.ts'
import { readable } from './framing/utf8.ts'
import { route } from './route.ts'
import type { PartEmitter } from './part-emitter.ts'
import { startSlots } from './slots.ts'

/** What one delta says about a call. Everything is a hint: vendors leave out, repeat, rotate and split each of these. */
export interface Fragment {
  readonly id?: unknown
  readonly index?: unknown
  readonly name?: unknown
  readonly args?: unknown
  /** Where it stood in the list of its delta, and how long that list was. */
  readonly position?: number
  readonly listed?: number
  /** The arguments are free text (T30). */
  readonly freeform?: boolean
}

/** A call that is being assembled. Its key is ours; nothing a vendor sends identifies it for good. */
export interface Slot {
  readonly ordinal: number
  readonly index: number
  wireIndex: number | undefined
  wireId: string | undefined
  /** All ids under which fragments of this call came. */
  readonly ids: Set<string>
  names: string[]
  raw: string
  /** The last piece, as long as each piece repeated all before it (T20). */
  chain: string | undefined
  pieces: number
  readonly scan: JsonScan
  freeform: boolean
  /** Vendor data that must go back with this call. */
  data: Json | undefined
  opened: boolean
  closed: boolean
  /** A fragment may have gone to the wrong call: neither may run. */
  ambiguous: boolean
  /** Grows with every fragment that went to some call: of two, the greater was spoken of later. */
  touched: number
  /** The wire itself said that this is a call of its own. */
  readonly placed: boolean
}

/** Puts calls together from fragments, for every wire: the one place where a call is opened, extended and closed. */
export interface CallAssembler {
  /** Adds what a delta says, to whichever call it belongs to; gives that call, unless the delta said nothing. */
  add(fragment: Fragment): Slot | undefined
  /** Opens a new call, whatever its hints say: for wires on which each item is a call of its own. */
  open(fragment: Fragment): Slot
  /** Adds to a call that the wire itself has found, whatever its hints say. */
  extend(slot: Slot, fragment: Fragment): void
  /** Replaces the arguments by the vendor's own final word (T140). */
  settle(slot: Slot, args: unknown): void
  /** The vendor says that this call is whole. */
  close(slot: Slot): void
  /** The vendor answered this call itself: it is not ours to run. */
  drop(slot: Slot): void
  /** The newest call at a vendor's index. */
  at(index: number): Slot | undefined
  /** A call that was written as text. */
  written(call: WrittenCall): void
  /** Arguments that were written as text, for a call that came with none; tells whether there was such a call (T63). */
  replace(call: WrittenCall): boolean
  /** The answer is over; `ended` tells whether the vendor said so. */
  end(ended: boolean): void
  readonly count: number
  readonly unfinished: boolean
  readonly unnamed: boolean
}

/** Starts the assembler of one turn; it shares nothing with any other (T29). */
export function startCalls(emitter: PartEmitter): CallAssembler {
  const slots = startSlots()
  const declared = emitter.projection.tools.map((tool) => tool.name)
  const isCopy = startCopies()
  let ordinals = 0
  let touches = 0
  let unfinished = false
  let unnamed = false

  function open(wireIndex: number | undefined, placed: boolean): Slot {
    const slot: Slot = {
      ordinal: ordinals++,
      index: emitter.reserve(),
      wireIndex,
      wireId: undefined,
      ids: new Set(),
      names: [],
      raw: '',
      chain: undefined,
      pieces: 0,
      scan: jsonScan(),
      freeform: false,
      data: undefined,
      opened: false,
      closed: false,
      ambiguous: false,
      touched: ++touches,
      placed,
    }
    slots.add(slot)
    slots.touch(slot)
    return slot
  }

  function extend(slot: Slot, fragment: Fragment): void {
    const id = word(fragment.id)
    if (id !== undefined) {
      slot.wireId ??= id
      slot.ids.add(id)
      slots.name(slot, id)
    }
    const name = word(fragment.name)
    if (name !== undefined && slot.names.length < 64) slot.names.push(name)
    if (fragment.freeform) slot.freeform = true
    const text = argumentText(fragment.args)
    if (text === '') return
    if (typeof fragment.args === 'object' && ROUNDED.test(text))
      emitter.warn(
        'big-number',
        'A number among the arguments has more digits than can be kept; it may be rounded (T49).',
      )
    slot.chain = slot.pieces === 0 || (slot.chain !== undefined && text.startsWith(slot.chain)) ? text : undefined
    slot.pieces++
    slot.raw += text
    slot.scan.push(text)
    announce(slot)
    emitter.emit({ type: 'part-delta', index: slot.index, text: readable(text) })
  }

  function announce(slot: Slot): void {
    if (slot.opened) return
    slot.opened = true
    const name = resolveName(slot.names, declared)
    emitter.emit({ type: 'part-open', index: slot.index, kind: 'call', ...(name !== '' && { name }) })
  }

  function close(slot: Slot, ended: boolean): void {
    if (slot.closed) return
    slot.closed = true
    const closing = closeCall(slot, { emitter, declared, ended })
    if (closing.ghost)
      return emitter.warn('ghost-call', 'A call with neither name nor arguments was ignored (T08, T28).')
    if (isCopy(slot, closing.parts))
      return emitter.warn('repeated-call', 'A call was sent again whole; the repeat was dropped (T21).')
    announce(slot)
    for (const warning of closing.warnings) emitter.emit({ type: 'warn', warning })
    for (const [at, part] of closing.parts.entries()) {
      const ordinal = at === 0 ? slot.ordinal : ordinals++
      const index = at === 0 ? slot.index : emitter.reserve()
      if (part.flaw?.code === 'unfinished') unfinished = true
      if (part.flaw?.code === 'unnamed') unnamed = true
      if (at > 0) emitter.emit({ type: 'part-open', index, kind: 'call', name: part.name })
      emitter.emit({ type: 'part-close', index, part: { ...part, id: callId(emitter.reading.key, ordinal) } })
    }
  }

  return {
    add(fragment) {
      const id = word(fragment.id)
      const name = word(fragment.name)
      const args = argumentText(fragment.args)
      if (id === undefined && name === undefined && args === '') return undefined
      const index = typeof fragment.index === 'number' ? fragment.index : undefined
      const hints = { id, name, args, index, position: fragment.position ?? 0, listed: fragment.listed ?? 1 }
      const target = route(slots, hints, (pieces) => nameCandidates(pieces, declared))
      if (target.replay) {
        // The repeat may be the first to say the name (T14).
        if (target.slot && name !== undefined && target.slot.names.length === 0) target.slot.names.push(name)
        emitter.warn('repeated-call', 'A call was sent again whole; the repeat was dropped (T21).')
        return target.slot
      }
      for (const slot of target.doubtful) slot.ambiguous = true
      const slot = target.slot ?? open(index, false)
      slot.wireIndex ??= index
      slot.touched = ++touches
      slots.touch(slot)
      extend(slot, fragment)
      return slot
    },
    open(fragment) {
      const slot = open(typeof fragment.index === 'number' ? fragment.index : undefined, true)
      extend(slot, fragment)
      return slot
    },
    extend(slot, fragment) {
      if (!slot.closed) extend(slot, fragment)
    },
    settle(slot, args) {
      const text = argumentText(args)
      if (slot.closed || text === '' || text === slot.raw) return
      if (contradicts(slot.raw, text))
        emitter.warn(
          'contradiction',
          'The final arguments of a call differ from those that were streamed; the final ones count (T140).',
        )
      const scan = jsonScan()
      scan.push(text)
      Object.assign(slot, { raw: text, chain: text, pieces: 1, scan })
    },
    close: (slot) => close(slot, true),
    drop: (slot) => void Object.assign(slot, { closed: true, names: [], raw: '' }),
    at: (index) => slots.all.findLast((slot) => slot.wireIndex === index),
    written(call) {
      close(this.open({ name: call.name, args: call.raw }), true)
    },
    replace(call) {
      const slot = slots.all.find((one) => !one.closed && resolveName(one.names, declared) === call.name)
      if (!slot || slot.raw.replace(/\s/g, '') !== '{}') return false
      emitter.warn(
        'written-arguments',
        `The arguments of ${call.name} were written as text; they were read from there (T63).`,
      )
      this.settle(slot, call.raw)
      return true
    },
    end(ended) {
      for (const slot of slots.all) close(slot, ended)
    },
    get count() {
      return slots.all.filter((slot) => slot.names.length > 0 || slot.raw !== '').length
    },
    get unfinished() {
      return unfinished
    },
    get unnamed() {
      return unnamed
    },
  }
}

/** A long number that came as a number, not as text. */
const ROUNDED = /[:[,]-?\d{16,}/

/** Do two complete argument texts say different things? */
function contradicts(before: string, now: string): boolean {
  const [one, other] = [readArguments(before), readArguments(now)]
  return before.trim() !== '' && one.ok && other.ok && canonical(one.inputs) !== canonical(other.inputs)
}

/** A non-empty string, or nothing: vendors send "" and null for "as before" (T07). */
function word(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Argument text: vendors send it as a string, as an object, or not at all (T16, T17). */
function argumentText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
