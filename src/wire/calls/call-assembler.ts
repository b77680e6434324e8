import { defined } from '../../model/defined.ts'
import { createCallId } from '../../model/ids.ts'
import { toCanonicalJson, type Json, nonBlankString } from '../../model/json.ts'
import { findNameCandidates, resolveCallName } from './call-name.ts'
import { closeCall } from './close-call.ts'
import { createDuplicateDetector } from './duplicate-calls.ts'
import { type JsonScanner, createJsonScanner } from '../json/json-scanner.ts'
import { parseCallArguments } from './parse-arguments.ts'
import type { TextCall } from '../text-calls/text-call-parser.ts'
import { replaceInvalidBytes } from '../framing/utf8-decoder.ts'
import { findCallOfFragment } from './match-fragment.ts'
import type { PartEmitter } from '../turn/part-emitter.ts'
import { createPendingCalls } from './pending-calls.ts'

/** What one delta says about a call. Every field is only a hint: vendors omit, repeat, change and split each of them. */
export interface CallFragment {
  readonly id?: unknown
  readonly index?: unknown
  readonly name?: unknown
  readonly args?: unknown
  /** Its position in the list of its delta, and the length of that list. */
  readonly listPosition?: number
  readonly listLength?: number
  /** The arguments are free text (T30). */
  readonly freeform?: boolean
}

/** A call that is being assembled. Its ordinal is ours: nothing that a vendor sends identifies it reliably. */
export interface PendingCall {
  readonly ordinal: number
  readonly partIndex: number
  wireIndex: number | undefined
  wireId: string | undefined
  readonly ids: Set<string>
  nameFragments: string[]
  raw: string
  /** The last fragment, if each fragment so far repeated all before it (T20). */
  cumulativeText: string | undefined
  fragmentCount: number
  readonly scan: JsonScanner
  isFreeform: boolean
  nativeData: Json | undefined
  isAnnounced: boolean
  isClosed: boolean
  /** A fragment may have been added to the wrong call, so this call must not run. */
  isAmbiguous: boolean
  /** A counter over all calls of the turn: the call with the greatest value was updated last. */
  lastUpdate: number
  /** The wire itself marked this as a separate call. */
  readonly isSeparate: boolean
}

export type CallAssembler = ReturnType<typeof createCallAssembler>

/** The only place where calls are opened, extended and closed, for all wires; one for each turn (T29). */
export function createCallAssembler(emitter: PartEmitter) {
  const pendingCalls = createPendingCalls()
  const toolNames = emitter.projection.tools.map((tool) => tool.name)
  const isDuplicate = createDuplicateDetector()
  let nextOrdinal = 0
  let updates = 0
  let unfinished = false
  let unnamed = false

  function open(wireIndex: number | undefined, isSeparate: boolean): PendingCall {
    const pendingCall: PendingCall = {
      ordinal: nextOrdinal++,
      partIndex: emitter.reserveIndex(),
      wireIndex,
      wireId: undefined,
      ids: new Set(),
      nameFragments: [],
      raw: '',
      cumulativeText: undefined,
      fragmentCount: 0,
      scan: createJsonScanner(),
      isFreeform: false,
      nativeData: undefined,
      isAnnounced: false,
      isClosed: false,
      isAmbiguous: false,
      lastUpdate: ++updates,
      isSeparate,
    }
    pendingCalls.add(pendingCall)
    pendingCalls.markUpdated(pendingCall)
    return pendingCall
  }

  function extend(pendingCall: PendingCall, fragment: CallFragment): void {
    const id = toLabel(fragment.id)
    if (id !== undefined) {
      pendingCall.wireId ??= id
      pendingCalls.addId(pendingCall, id)
    }
    const name = toLabel(fragment.name)
    if (name !== undefined && pendingCall.nameFragments.length < 64) pendingCall.nameFragments.push(name)
    if (fragment.freeform) pendingCall.isFreeform = true
    const text = toArgumentText(fragment.args)
    if (text === '') return
    if (typeof fragment.args === 'object' && LONG_NUMBER.test(text))
      emitter.warn('big-number', 'A number in the arguments has too many digits; it may be rounded (T49).')
    pendingCall.cumulativeText =
      pendingCall.fragmentCount === 0 ||
      (pendingCall.cumulativeText !== undefined && text.startsWith(pendingCall.cumulativeText))
        ? text
        : undefined
    pendingCall.fragmentCount++
    pendingCall.raw += text
    pendingCall.scan.push(text)
    pendingCalls.updateOpen(pendingCall)
    announce(pendingCall)
    emitter.emit({
      type: 'part-delta',
      index: pendingCall.partIndex,
      kind: 'call',
      text: replaceInvalidBytes(text),
    })
  }

  function announce(pendingCall: PendingCall): void {
    if (pendingCall.isAnnounced) return
    pendingCall.isAnnounced = true
    const name = resolveCallName(pendingCall.nameFragments, toolNames)
    const id = createCallId(emitter.context.turnKey, pendingCall.ordinal)
    const { partIndex: index, wireId, nativeData } = pendingCall
    const native = (wireId ?? nativeData) === undefined ? undefined : emitter.createNative(wireId, nativeData)
    emitter.emit({ type: 'part-open', index, kind: 'call', id, ...(name !== '' && { name }), ...defined({ native }) })
  }

  function close(pendingCall: PendingCall, ended: boolean): void {
    if (pendingCall.isClosed) return
    pendingCall.isClosed = true
    pendingCalls.updateOpen(pendingCall)
    const closedCall = closeCall(pendingCall, { emitter, toolNames, hasEnded: ended })
    if (closedCall.isEmpty)
      return emitter.warn('ghost-call', 'A call without a name and arguments was ignored (T08, T28).')
    if (isDuplicate(pendingCall, closedCall.parts)) return emitter.warn('repeated-call', REPEATED_CALL)
    announce(pendingCall)
    for (const warning of closedCall.warnings) emitter.emit({ type: 'warn', warning })
    for (const [at, part] of closedCall.parts.entries()) {
      const ordinal = at === 0 ? pendingCall.ordinal : nextOrdinal++
      const index = at === 0 ? pendingCall.partIndex : emitter.reserveIndex()
      if (part.flaw?.code === 'unfinished') unfinished = true
      if (part.flaw?.code === 'unnamed') unnamed = true
      const id = createCallId(emitter.context.turnKey, ordinal)
      if (at > 0) emitter.emit({ type: 'part-open', index, kind: 'call', id, name: part.name })
      emitter.emit({ type: 'part-close', index, part: { ...part, id } })
    }
  }

  return {
    /** Adds a fragment to the call that it belongs to, and returns that call; undefined if the fragment is empty. */
    add(fragment: CallFragment): PendingCall | undefined {
      const id = toLabel(fragment.id)
      const name = toLabel(fragment.name)
      const args = toArgumentText(fragment.args)
      if (id === undefined && name === undefined && args === '') return undefined
      const index = typeof fragment.index === 'number' ? fragment.index : undefined
      const { listPosition = 0, listLength = 1 } = fragment
      const hints = { id, name, args, index, listPosition, listLength }
      const match = findCallOfFragment(pendingCalls, hints, (pieces) => findNameCandidates(pieces, toolNames))
      if (match.isRepeat) {
        // The repeat may be the first fragment with the name (T14).
        if (name !== undefined && match.pendingCall?.nameFragments.length === 0)
          match.pendingCall.nameFragments.push(name)
        emitter.warn('repeated-call', REPEATED_CALL)
        return match.pendingCall
      }
      for (const pendingCall of match.ambiguousCalls) pendingCall.isAmbiguous = true
      const pendingCall = match.pendingCall ?? open(index, false)
      pendingCall.wireIndex ??= index
      pendingCall.lastUpdate = ++updates
      pendingCalls.markUpdated(pendingCall)
      extend(pendingCall, fragment)
      return pendingCall
    },
    /** Opens a new call, whatever its hints say: for wires on which each item is a separate call. */
    open(fragment: CallFragment): PendingCall {
      const pendingCall = open(typeof fragment.index === 'number' ? fragment.index : undefined, true)
      extend(pendingCall, fragment)
      return pendingCall
    },
    extend(pendingCall: PendingCall, fragment: CallFragment): void {
      if (!pendingCall.isClosed) extend(pendingCall, fragment)
    },
    /** Replaces the arguments by the vendor's final version (T140). */
    replaceArguments(pendingCall: PendingCall, args: unknown): void {
      const text = toArgumentText(args)
      if (pendingCall.isClosed || text === '' || text === pendingCall.raw) return
      if (areArgumentsDifferent(pendingCall.raw, text))
        emitter.warn('contradiction', 'The final arguments of a call differ from the streamed ones (T140).')
      const scan = createJsonScanner()
      scan.push(text)
      const changes: Partial<PendingCall> = { raw: text, cumulativeText: text, fragmentCount: 1, scan }
      Object.assign(pendingCall, changes)
      pendingCalls.updateOpen(pendingCall)
    },
    close: (pendingCall: PendingCall) => close(pendingCall, true),
    /** The vendor ran this call itself: it must not run here. */
    drop(pendingCall: PendingCall): void {
      Object.assign(pendingCall, { isClosed: true, nameFragments: [], raw: '' } satisfies Partial<PendingCall>)
      pendingCalls.updateOpen(pendingCall)
    },
    findByIndex: pendingCalls.findNewestAtIndex,
    addTextCall(call: TextCall): void {
      close(this.open({ name: call.name, args: call.raw }), true)
    },
    /** Uses arguments that were written as text for a call that has none; false if there is no such call (T63). */
    fillArguments(call: TextCall): boolean {
      const pendingCall = pendingCalls.all.find(
        (one) => !one.isClosed && resolveCallName(one.nameFragments, toolNames) === call.name,
      )
      if (!pendingCall || pendingCall.raw.replace(/\s/g, '') !== '{}') return false
      emitter.warn('written-arguments', `The arguments of ${call.name} were read from the text (T63).`)
      this.replaceArguments(pendingCall, call.raw)
      return true
    },
    /** `ended`: there was an end signal. */
    end(ended: boolean): void {
      for (const pendingCall of pendingCalls.all) close(pendingCall, ended)
    },
    count: () =>
      pendingCalls.all.filter((pendingCall) => pendingCall.nameFragments.length > 0 || pendingCall.raw !== '').length,
    hasUnfinished: () => unfinished,
    hasUnnamed: () => unnamed,
  }
}

const REPEATED_CALL = 'A complete call was sent again; the repeat was dropped (T21).'

const LONG_NUMBER = /[:[,]-?\d{16,}/

function areArgumentsDifferent(before: string, now: string): boolean {
  const [one, other] = [parseCallArguments(before), parseCallArguments(now)]
  return before.trim() !== '' && one.ok && other.ok && toCanonicalJson(one.inputs) !== toCanonicalJson(other.inputs)
}

/** Vendors send "" and null for "unchanged" (T07), and numbers as ids. */
function toLabel(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : nonBlankString(value)
}

/** Vendors send arguments as a string, as an object, or not at all (T16, T17). */
function toArgumentText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
