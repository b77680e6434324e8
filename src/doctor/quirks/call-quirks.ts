import { isObject, tryParseJson } from '../../model/json.ts'
import type { InspectedCallFragment } from '../inspect/frame-inspection.ts'
import type { ServerQuirk } from './quirk-detectors.ts'
import { groupFragmentsByIndex, getArgumentTexts, type AttemptAnalysis, toNonEmptyString } from './attempt-analysis.ts'

/** Quirks of calls: indexes, ids, names and arguments. */
export const CALL_QUIRKS: readonly ServerQuirk[] = [
  {
    id: 'index-missing',
    failureIds: 'T01',
    description: 'sends call fragments without an index',
    detect: ({ inspection }) =>
      inspection.blockIndexes.includes(null) || inspection.fragments.some(({ index }) => index === null),
  },
  {
    id: 'index-zero',
    failureIds: 'T02',
    description: 'gives every call the index 0',
    wire: 'openai-chat',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some(
        (group) => new Set(getOpeningFragments(group).flatMap(({ id }) => toNonEmptyString(id) ?? [])).size > 1,
      ),
  },
  {
    id: 'index-sparse',
    failureIds: 'T04',
    description: 'skips call indexes',
    detect: ({ inspection }) => {
      const sortedIndexes = [...new Set(inspection.blockIndexes.filter((one) => one !== null))].sort((a, b) => a - b)
      return sortedIndexes.some((number, at) => number !== at)
    },
  },
  {
    id: 'ids-missing',
    failureIds: 'T06',
    description: 'sends calls without ids',
    // Calls of Code Assist have no ids.
    detect: ({ wire, inspection }) =>
      wire !== 'code-assist' &&
      groupFragmentsByCall(inspection.fragments).some(
        (group) =>
          group.some(({ name }) => toNonEmptyString(name)) && group.every(({ id }) => id === undefined || id === null),
      ),
  },
  {
    id: 'ids-empty',
    failureIds: 'T07',
    description: 'sends calls with empty ids',
    detect: ({ inspection }) =>
      inspection.fragments.some(({ id, name }) => id === '' && toNonEmptyString(name) !== undefined),
  },
  {
    id: 'ids-same',
    failureIds: 'T10',
    description: 'gives several calls the same id',
    detect: ({ inspection }) => {
      const ids = groupFragmentsByCall(inspection.fragments).flatMap((group) => toNonEmptyString(group[0]?.id) ?? [])
      return new Set(ids).size < ids.length
    },
  },
  {
    id: 'ids-rotating',
    failureIds: 'T09, T141',
    description: 'changes the id between fragments of a call',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some((group) => {
        const items = new Set(group.flatMap(({ itemId }) => toNonEmptyString(itemId) ?? []))
        const [first, ...later] = group.filter(({ isFinalCopy }) => !isFinalCopy)
        const hasOtherId = later.some(({ id, startsCall }) => toNonEmptyString(id) && !startsCall && id !== first?.id)
        return items.size > 1 || hasOtherId
      }),
  },
  {
    id: 'name-split',
    failureIds: 'T13',
    description: 'splits tool names across fragments',
    wire: 'openai-chat',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some((group) => compareLaterNames(group).includes(false)),
  },
  {
    id: 'name-repeated',
    failureIds: 'T12',
    description: 'repeats the tool name in every fragment',
    wire: 'openai-chat',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some((group) => compareLaterNames(group).includes(true)),
  },
  {
    id: 'name-late',
    failureIds: 'T14',
    description: 'sends the tool name after the arguments',
    wire: 'openai-chat',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some(
        (group) => toNonEmptyString(group[0]?.name) === undefined && group.some(({ name }) => toNonEmptyString(name)),
      ),
  },
  {
    id: 'arguments-cumulative',
    failureIds: 'T20',
    description: 'sends cumulative arguments instead of deltas',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some((group) => {
        const all = getArgumentTexts(group)
        const extendsLast = (text: string, last = ''): boolean => text.length > last.length && text.startsWith(last)
        return all.length > 1 && all.every((text, at) => at === 0 || extendsLast(text, all[at - 1]))
      }),
  },
  {
    id: 'arguments-repeated',
    failureIds: 'T21',
    description: 'repeats the whole arguments after the last fragment',
    detect: ({ inspection }) =>
      groupFragmentsByIndex(inspection.fragments).some((group) => {
        const all = getArgumentTexts(group)
        return all.length > 1 && all.at(-1) === all.slice(0, -1).join('') && isObject(tryParseJson(all.at(-1) ?? ''))
      }),
  },
  {
    id: 'arguments-object',
    failureIds: 'T16',
    description: 'sends arguments as an object instead of a JSON string',
    detect: ({ inspection }) => inspection.fragments.some((fragment) => isObject(fragment.arguments)),
  },
  {
    id: 'arguments-doubled',
    failureIds: 'T31',
    description: 'double-encodes arguments (JSON inside a JSON string)',
    detect: ({ inspection }) =>
      groupFragmentsByCall(inspection.fragments).some((group) => {
        const value = tryParseJson(getArgumentTexts(group).join(''))
        return typeof value === 'string' && isObject(tryParseJson(value))
      }),
  },
  {
    id: 'interleaved',
    failureIds: 'T05',
    description: 'interleaves the fragments of several calls',
    detect: ({ inspection }) => {
      const order = inspection.fragments.flatMap(({ index, isFinalCopy }) =>
        typeof index === 'number' && !isFinalCopy ? [index] : [],
      )
      const runs = order.filter((index, at) => index !== order[at - 1])
      return new Set(runs).size < runs.length
    },
  },
  {
    id: 'ghost-call',
    failureIds: 'T08, T28',
    description: 'sends empty calls',
    detect: ({ inspection }) =>
      groupFragmentsByCall(inspection.fragments).some((group) => group.every(isEmptyFragment)),
  },
  {
    id: 'malformed-call',
    failureIds: 'T41, T124',
    description: 'sends malformed calls',
    outcome: 'retried',
    detect: hasMalformedCall,
  },
]

/** The fragments of each call: by index, or one by one if there are no indexes. */
function groupFragmentsByCall(fragments: readonly InspectedCallFragment[]): InspectedCallFragment[][] {
  const unnumbered = fragments.filter(
    ({ index, startsCall, name }) => index === undefined || (index === null && startsCall && toNonEmptyString(name)),
  )
  return [...groupFragmentsByIndex(fragments), ...unnumbered.map((fragment) => [fragment])]
}

function getOpeningFragments(group: readonly InspectedCallFragment[]): InspectedCallFragment[] {
  return group.filter(({ startsCall, name }) => startsCall && toNonEmptyString(name) !== undefined)
}

/** For each later fragment that names the tool again: is it the same name? */
function compareLaterNames(group: readonly InspectedCallFragment[]): boolean[] {
  const [first, ...later] = group
  if (!toNonEmptyString(first?.name)) return []
  return later.flatMap(({ name, id }) =>
    toNonEmptyString(name) && !toNonEmptyString(id) ? [name === first?.name] : [],
  )
}

function isEmptyFragment({ id, name, arguments: args }: InspectedCallFragment): boolean {
  return !toNonEmptyString(id) && !toNonEmptyString(name) && (args === undefined || args === '')
}

function hasMalformedCall({ isLastAttempt, exchange: { turn } }: AttemptAnalysis): boolean {
  if (!isLastAttempt || turn.finish.fault) return false
  const hasFlawedCall = turn.parts.some((part) => part.kind === 'call' && part.flaw?.code.startsWith('not-'))
  return turn.finish.reason === 'malformed-call' || hasFlawedCall
}
