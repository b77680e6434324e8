import { toCanonicalJson } from '../../model/json.ts'
import type { NameCandidates } from './call-name.ts'
import type { PendingCall } from './call-assembler.ts'
import { parseCallArguments } from './parse-arguments.ts'
import type { OpenList } from './open-list.ts'
import { isCallOpen, type PendingCalls } from './pending-calls.ts'

/** The hints of a fragment; empty ones are undefined. */
interface FragmentHints {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly args: string
  readonly index: number | undefined
  readonly listPosition: number
  readonly listLength: number
}

interface FragmentMatch {
  /** Undefined for a new call. */
  readonly pendingCall: PendingCall | undefined
  /** The fragment repeats what the call already has. */
  readonly isRepeat?: true
  /** Calls that the fragment might belong to as well: none of them may run. Those that are marked already are left out. */
  readonly ambiguousCalls: readonly PendingCall[]
}

type FindNameCandidates = (pieces: readonly string[]) => NameCandidates

/**
 * Finds the call that a fragment belongs to: by id, then by index, then by its position in the list, then the newest call
 * that is still open. If two open calls are possible, both become ambiguous: better no call than a wrong one.
 */
export function findCallOfFragment(
  pendingCalls: PendingCalls,
  hints: FragmentHints,
  findCandidates: FindNameCandidates,
): FragmentMatch {
  const identified = findByHintedId(pendingCalls, hints)
  if (identified) return startsNewCall(identified, hints, findCandidates) ? NEW_CALL : matchCall(identified, hints)
  if (hints.index !== undefined) {
    const last = pendingCalls.findLatestAtIndex(hints.index)
    if (last) return startsNewCall(last, hints, findCandidates) ? NEW_CALL : matchSharedIndex(pendingCalls, last, hints)
    if (hints.name !== undefined) return NEW_CALL
    return matchArgumentsOnly(
      pendingCalls.getOpenAtIndex(undefined),
      pendingCalls.findLatestAtIndex(undefined),
      pendingCalls.countAtIndex(undefined),
      hints,
    )
  }
  if (hints.name !== undefined) return matchByName(pendingCalls, hints, findCandidates)
  return matchArgumentsOnly(pendingCalls.openCalls, pendingCalls.findLatest(), pendingCalls.all.length, hints)
}

/** The newest call with this id; of several, the one at this index (T10). */
function findByHintedId(pendingCalls: PendingCalls, { id, index }: FragmentHints): PendingCall | undefined {
  if (id === undefined) return undefined
  const identified = pendingCalls.findById(id)
  const sameIndex = index === undefined ? undefined : pendingCalls.findLastByIdAtIndex(id, index)
  // If there is a call at this index, an id of a call at another index is ignored.
  const isTaken = index !== undefined && pendingCalls.countAtIndex(index) > 0
  return (
    sameIndex ??
    (isTaken ? identified.findLast((pendingCall) => pendingCall.wireIndex === undefined) : identified.at(-1))
  )
}

/** A fragment with a name but without index or known id: a new call, unless it continues the name of the last one. */
function matchByName(
  pendingCalls: PendingCalls,
  hints: FragmentHints,
  findCandidates: FindNameCandidates,
): FragmentMatch {
  const last = pendingCalls.findLatest()
  if (!last || last.isClosed || last.wireIndex !== undefined) return NEW_CALL
  // Entries of one list are separate calls.
  if (hints.listLength > 1) return NEW_CALL
  if (hints.id !== undefined && last.ids.size > 0) return NEW_CALL
  if (startsNewCall(last, hints, findCandidates)) return NEW_CALL
  const { openCalls } = pendingCalls
  const candidates = openCalls.count() > 1 && openCalls.listUnmarked().length > 0 ? openCalls.list() : []
  const matching = candidates.filter((pendingCall) => repeatsName(pendingCall, hints.name ?? '', findCandidates))
  return { ...matchCall(last, hints), ambiguousCalls: matching.length > 1 ? matching : [] }
}

/** If several calls have the same index, a fragment may belong to any of them that is still open. */
function matchSharedIndex(pendingCalls: PendingCalls, last: PendingCall, hints: FragmentHints): FragmentMatch {
  if (pendingCalls.countAtIndex(last.wireIndex) === 1) return matchCall(last, hints)
  const open = pendingCalls.getOpenAtIndex(last.wireIndex)
  const isDoubtful = open.count() > (open.has(last) ? 1 : 0) || isStrayNewline(last, hints.args)
  return { ...matchCall(last, hints), ambiguousCalls: isDoubtful ? [...open.listUnmarked(), last] : [] }
}

/** A fragment with arguments only. `newest` is the call that was updated last, `count` the number of candidates. */
function matchArgumentsOnly(
  open: OpenList<PendingCall>,
  newest: PendingCall | undefined,
  count: number,
  hints: FragmentHints,
): FragmentMatch {
  if (hints.listLength > 1 && open.count() === hints.listLength)
    return { pendingCall: open.list()[hints.listPosition], ambiguousCalls: [] }
  const last = newest?.isClosed ? open.findLast() : newest
  if (!last) return NEW_CALL
  const otherId = hints.id !== undefined && last.ids.size > 0
  // Only an id: a new call whose name follows (T14).
  if (otherId && last.raw === '' && hints.args.trim() === '') return NEW_CALL
  if (isCallOpen(last)) {
    // Another id may belong to the same call (T09), or to a call whose name was lost.
    const nameless = otherId && last.raw === '' && startsObject(hints.args)
    const stray = count > 1 && isStrayNewline(last, hints.args)
    return { pendingCall: last, ambiguousCalls: open.count() > 1 || nameless || stray ? open.listUnmarked() : [] }
  }
  if (otherId) return NEW_CALL
  const other = open.findLast()
  // All calls are complete: this repeats the arguments of the last one, or is trailing text.
  if (!other) return matchCall(last, hints)
  // It continues the one open call, unless it could also repeat the last one.
  const repeated = startsObject(hints.args) || isStrayNewline(other, hints.args) || !startsObject(last.raw)
  return { pendingCall: other, ambiguousCalls: open.count() > 1 || repeated ? [...open.listUnmarked(), last] : [] }
}

/**
 * Does a fragment with the id or index of a call start another call? Vendors give every call index 0 (T02, T03), repeat the
 * name in every delta (T12), change the id (T09), or use one id twice (T10).
 */
function startsNewCall(pendingCall: PendingCall, hints: FragmentHints, findCandidates: FindNameCandidates): boolean {
  const { id, name, args } = hints
  if (pendingCall.isClosed) return name !== undefined && !isRepeatedCall(pendingCall, hints)
  const elsewhere =
    hints.index !== undefined && pendingCall.wireIndex !== undefined && pendingCall.wireIndex !== hints.index
  const newId = id !== undefined && pendingCall.ids.size > 0 && !pendingCall.ids.has(id)
  // After a complete call, an id alone announces a call whose name and arguments follow (T14).
  const canStart = args.trim() === '' || startsObject(args)
  if (name === undefined)
    return elsewhere || (newId && pendingCall.scan.isComplete && canStart && !isRepeatedCall(pendingCall, hints))
  if (pendingCall.nameFragments.length === 0)
    return elsewhere || (newId && pendingCall.scan.isComplete && args.trim() !== '')
  const other = newId || elsewhere
  if (pendingCall.scan.isComplete) {
    // An id may come late (T06), but not after all arguments together with a name.
    const next = other || (id !== undefined && pendingCall.ids.size === 0)
    return (
      !isRepeatedCall(pendingCall, hints) &&
      (next || startsAnotherObject(pendingCall, args) || !continuesName(pendingCall, name, findCandidates))
    )
  }
  // The call is still open: a new id or index with a name starts a call, unless the text clearly continues the open one.
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

/** After arguments and a complete name, a fragment that could start a name starts another call. */
function continuesName(pendingCall: PendingCall, name: string, findCandidates: FindNameCandidates): boolean {
  if (repeatsName(pendingCall, name, findCandidates)) return true
  return (
    findCandidates([...pendingCall.nameFragments, name]).canMatch &&
    !(findCandidates(pendingCall.nameFragments).isComplete && findCandidates([name]).canMatch)
  )
}

/** Does the call already have this name (T12)? */
function repeatsName(pendingCall: PendingCall, name: string, findCandidates: FindNameCandidates): boolean {
  return pendingCall.nameFragments.at(-1) === name || findCandidates(pendingCall.nameFragments).names.includes(name)
}

/** A raw line break is invalid in a JSON string: it may belong to the arguments of another call. */
function isStrayNewline(pendingCall: PendingCall, args: string): boolean {
  return pendingCall.scan.isInString() && /^\s*[\n\r\t]\s*$/.test(args)
}

function startsObject(args: string): boolean {
  return /^\s*\{/.test(args)
}

/** A second object is another call, unless the first one is an empty placeholder (T18). */
function startsAnotherObject(pendingCall: PendingCall, args: string): boolean {
  return startsObject(args) && !/^\s*\{\s*\}\s*$/.test(pendingCall.raw)
}

function matchCall(pendingCall: PendingCall, hints: FragmentHints): FragmentMatch {
  return isRepeatedCall(pendingCall, hints)
    ? { pendingCall, isRepeat: true, ambiguousCalls: [] }
    : { pendingCall, ambiguousCalls: [] }
}

/** Is this the same complete call again, with the same name and arguments? */
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
  // White space and escapes do not make this much difference. Long arguments are not parsed again for each fragment.
  if (pendingCall.raw.length > MAX_WHITESPACE_RATIO * (hints.args.length + MAX_WHITESPACE_RATIO)) return false
  const before = parseCallArguments(pendingCall.raw)
  const now = parseCallArguments(hints.args)
  return before.ok && now.ok && toCanonicalJson(before.inputs) === toCanonicalJson(now.inputs)
}

const MAX_WHITESPACE_RATIO = 20

const NEW_CALL: FragmentMatch = { pendingCall: undefined, ambiguousCalls: [] }
