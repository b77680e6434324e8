import { toCanonicalJson } from '../../model/json.ts'
import type { NameCandidates } from './call-name.ts'
import type { PendingCall } from './call-assembler.ts'
import { parseArguments } from './parse-arguments.ts'
import { isCallOpen, type PendingCalls } from './pending-calls.ts'

/** The hints of a fragment, cleaned: what is absent or empty is undefined. */
export interface FragmentHints {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly args: string
  readonly index: number | undefined
  readonly listPosition: number
  readonly listLength: number
}

/** Where a fragment belongs: to a slot, to a new call (no slot), or nowhere because it repeats what is there. */
export interface FragmentMatch {
  readonly pendingCall: PendingCall | undefined
  readonly isRepeat?: true
  /** Calls that the fragment might belong to as well: none of them can be trusted any more. */
  readonly ambiguousCalls: readonly PendingCall[]
}

/** What pieces of a name can mean, and whether that can still become a declared name. */
type FindNameCandidates = (pieces: readonly string[]) => NameCandidates

/**
 * Finds the call that a fragment belongs to: by id, then by index, then by its place in the list, then the newest call
 * that is still open. Where two open calls could be meant, both become doubtful: better no call than a wrong one.
 */
export function matchFragment(
  pendingCalls: PendingCalls,
  hints: FragmentHints,
  findCandidates: FindNameCandidates,
): FragmentMatch {
  const identified = findByHintedId(pendingCalls, hints)
  if (identified)
    return startsNewCall(identified, hints, findCandidates) ? matchNewCall() : matchCall(identified, hints)
  if (hints.index !== undefined) {
    const last = pendingCalls.findLatestAtIndex(hints.index)
    if (last)
      return startsNewCall(last, hints, findCandidates) ? matchNewCall() : matchSharedIndex(pendingCalls, last, hints)
    if (hints.name !== undefined) return matchNewCall()
    const open = pendingCalls.listOpen().filter((pendingCall) => pendingCall.wireIndex === undefined)
    return matchArgumentsOnly(
      open,
      pendingCalls.findLatestAtIndex(undefined),
      pendingCalls.countAtIndex(undefined),
      hints,
    )
  }
  if (hints.name !== undefined) return matchByName(pendingCalls, hints, findCandidates)
  return matchArgumentsOnly(pendingCalls.listOpen(), pendingCalls.findLatest(), pendingCalls.all.length, hints)
}

/** The newest call that came under this id; of several with one id, the one at this index (T10). */
function findByHintedId(pendingCalls: PendingCalls, { id, index }: FragmentHints): PendingCall | undefined {
  if (id === undefined) return undefined
  const identified = pendingCalls.findById(id)
  const sameIndex =
    index === undefined ? undefined : identified.findLast((pendingCall) => pendingCall.wireIndex === index)
  // An id that stands for a call in another place does not lead away from the call that is in this one.
  const isTaken = index !== undefined && pendingCalls.countAtIndex(index) > 0
  return (
    sameIndex ??
    (isTaken ? identified.findLast((pendingCall) => pendingCall.wireIndex === undefined) : identified.at(-1))
  )
}

/** A fragment with a name but without index or known id: a new call, unless it goes on spelling the name of the last one. */
function matchByName(
  pendingCalls: PendingCalls,
  hints: FragmentHints,
  findCandidates: FindNameCandidates,
): FragmentMatch {
  const last = pendingCalls.findLatest()
  if (!last || last.isClosed || last.wireIndex !== undefined) return matchNewCall()
  // Two calls in one list are two calls.
  if (hints.listLength > 1) return matchNewCall()
  if (hints.id !== undefined && last.ids.size > 0) return matchNewCall()
  if (startsNewCall(last, hints, findCandidates)) return matchNewCall()
  const matching = pendingCalls
    .listOpen()
    .filter((pendingCall) => repeatsName(pendingCall, hints.name ?? '', findCandidates))
  return { ...matchCall(last, hints), ambiguousCalls: matching.length > 1 ? matching : [] }
}

/** Where one index stands for several calls, a fragment may belong to any of them that is still open. */
function matchSharedIndex(pendingCalls: PendingCalls, last: PendingCall, hints: FragmentHints): FragmentMatch {
  if (pendingCalls.countAtIndex(last.wireIndex) === 1) return matchCall(last, hints)
  const open = pendingCalls
    .listOpen()
    .filter((pendingCall) => pendingCall !== last && pendingCall.wireIndex === last.wireIndex)
  const isDoubtful = open.length > 0 || isStrayNewline(last, hints.args)
  return { ...matchCall(last, hints), ambiguousCalls: isDoubtful ? [...open, last] : [] }
}

/** A fragment with arguments only, for one of the calls of which these are open and this one was spoken of last. */
function matchArgumentsOnly(
  open: readonly PendingCall[],
  newest: PendingCall | undefined,
  count: number,
  hints: FragmentHints,
): FragmentMatch {
  if (hints.listLength > 1 && open.length === hints.listLength)
    return { pendingCall: open[hints.listPosition], ambiguousCalls: [] }
  const last = newest?.isClosed ? open.at(-1) : newest
  if (!last) return matchNewCall()
  const otherId = hints.id !== undefined && last.ids.size > 0
  // Nothing but an id: a call that will be named later (T14).
  if (otherId && last.raw === '' && hints.args.trim() === '') return matchNewCall()
  if (isCallOpen(last)) {
    // Another id may be the same call's (T09), or that of a call whose name was lost.
    const nameless = otherId && last.raw === '' && startsObject(hints.args)
    const stray = count > 1 && isStrayNewline(last, hints.args)
    return { pendingCall: last, ambiguousCalls: open.length > 1 || nameless || stray ? open : [] }
  }
  if (otherId) return matchNewCall()
  const other = open.at(-1)
  // All calls are complete: this is a repeat of the last one's arguments, or trailing text of it.
  if (!other) return matchCall(last, hints)
  // It goes on with the one call that is open, unless it could as well be said once more of the last one.
  const repeated = startsObject(hints.args) || isStrayNewline(other, hints.args) || !startsObject(last.raw)
  return { pendingCall: other, ambiguousCalls: open.length > 1 || repeated ? [...open, last] : [] }
}

/**
 * Does a fragment, sent to a slot by its id or index, begin another call there? Vendors give every call index 0 (T02,
 * T03), repeat the name in every delta (T12), rotate the id (T09), or use one id twice (T10).
 */
function startsNewCall(pendingCall: PendingCall, hints: FragmentHints, findCandidates: FindNameCandidates): boolean {
  const { id, name, args } = hints
  if (pendingCall.isClosed) return name !== undefined && !isRepeatedCall(pendingCall, hints)
  const elsewhere =
    hints.index !== undefined && pendingCall.wireIndex !== undefined && pendingCall.wireIndex !== hints.index
  const newId = id !== undefined && pendingCall.ids.size > 0 && !pendingCall.ids.has(id)
  if (name === undefined)
    return (
      elsewhere || (newId && pendingCall.scan.isComplete && startsObject(args) && !isRepeatedCall(pendingCall, hints))
    )
  if (pendingCall.nameFragments.length === 0)
    return elsewhere || (newId && pendingCall.scan.isComplete && args.trim() !== '')
  const other = newId || elsewhere
  if (pendingCall.scan.isComplete) {
    // An id may come late (T06), but not after all arguments and with the name of the next call.
    const next = other || (id !== undefined && pendingCall.ids.size === 0)
    return (
      !isRepeatedCall(pendingCall, hints) &&
      (next || startsAnotherObject(pendingCall, args) || !continuesName(pendingCall, name, findCandidates))
    )
  }
  // The slot is still open: a new id or place with a name begins a call, unless its text plainly goes on with the open one.
  if (other)
    return !(
      args.trim() !== '' &&
      pendingCall.raw !== '' &&
      !startsObject(args) &&
      canExtendName(pendingCall, name, findCandidates)
    )
  return pendingCall.raw === ''
    ? !canExtendName(pendingCall, name, findCandidates)
    : !continuesName(pendingCall, name, findCandidates)
}

function canExtendName(pendingCall: PendingCall, name: string, findCandidates: FindNameCandidates): boolean {
  return repeatsName(pendingCall, name, findCandidates) || findCandidates([...pendingCall.nameFragments, name]).canMatch
}

/** After arguments, and after a whole name, a piece that could begin a name begins another call. */
function continuesName(pendingCall: PendingCall, name: string, findCandidates: FindNameCandidates): boolean {
  if (repeatsName(pendingCall, name, findCandidates)) return true
  return (
    findCandidates([...pendingCall.nameFragments, name]).canMatch &&
    !(findCandidates(pendingCall.nameFragments).isComplete && findCandidates([name]).canMatch)
  )
}

/** Is this the name that the call has already (T12)? */
function repeatsName(pendingCall: PendingCall, name: string, findCandidates: FindNameCandidates): boolean {
  return pendingCall.nameFragments.at(-1) === name || findCandidates(pendingCall.nameFragments).names.includes(name)
}

/** A line break cannot stand in a string: it is the end of another call's arguments, or nothing that can be trusted. */
function isStrayNewline(pendingCall: PendingCall, args: string): boolean {
  return pendingCall.scan.isInString && /^\s*[\n\r\t]\s*$/.test(args)
}

function startsObject(args: string): boolean {
  return /^\s*\{/.test(args)
}

/** An object after an object is another call; but after an empty one it may be what that held the place for (T18). */
function startsAnotherObject(pendingCall: PendingCall, args: string): boolean {
  return startsObject(args) && !/^\s*\{\s*\}\s*$/.test(pendingCall.raw)
}

function matchCall(pendingCall: PendingCall, hints: FragmentHints): FragmentMatch {
  return isRepeatedCall(pendingCall, hints)
    ? { pendingCall, isRepeat: true, ambiguousCalls: [] }
    : { pendingCall, ambiguousCalls: [] }
}

/** Is this the same call again, whole: the same name and the same arguments? */
function isRepeatedCall(pendingCall: PendingCall, hints: FragmentHints): boolean {
  if (!pendingCall.scan.isComplete || !startsObject(hints.args)) return false
  if (
    hints.name !== undefined &&
    pendingCall.nameFragments.length > 0 &&
    pendingCall.nameFragments.at(-1) !== hints.name
  )
    return false
  if (hints.id !== undefined && pendingCall.ids.size > 0 && !pendingCall.ids.has(hints.id) && hints.name !== undefined)
    return false
  if (hints.args === pendingCall.raw) return true
  // Spaces and escapes do not make that much of a difference; what holds many objects is not read again for each more.
  if (pendingCall.raw.length > MAX_WHITESPACE_RATIO * (hints.args.length + MAX_WHITESPACE_RATIO)) return false
  const before = parseArguments(pendingCall.raw)
  const now = parseArguments(hints.args)
  return before.ok && now.ok && toCanonicalJson(before.inputs) === toCanonicalJson(now.inputs)
}

const MAX_WHITESPACE_RATIO = 20

function matchNewCall(): FragmentMatch {
  return { pendingCall: undefined, ambiguousCalls: [] }
}
