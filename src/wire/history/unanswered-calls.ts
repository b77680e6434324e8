import type { CallPart } from '../../model/turn.ts'

/** What a result says about its call. */
export interface ResultReference {
  readonly id?: string | undefined
  readonly name?: string | undefined
}

/** The calls of a history that is read without a result so far, for wires whose results may have no id (T126, T169). */
export interface UnansweredCalls {
  addResponse(calls: readonly CallPart[]): void
  /** The calls that results answer which follow each other; each call is given out once. */
  match(results: readonly ResultReference[]): readonly (CallPart | undefined)[]
}

/** `anyName`: a result may belong to a call of any name if no call has its own. */
export function createUnansweredCalls({ anyName }: { readonly anyName: boolean }): UnansweredCalls {
  /** The calls of each response; those that are answered are removed when all are searched. */
  let responses: (readonly CallPart[])[] = []
  const answered = new Set<CallPart>()
  const byId = new Map<string, { readonly call: CallPart; readonly response: readonly CallPart[] }[]>()

  /** The nearest call with this id; of several in one response, the first. */
  function takeById(id: string): CallPart | undefined {
    const open = (byId.get(id) ?? []).filter(({ call }) => !answered.has(call))
    const nearest = open.at(-1)?.response
    const found = open.find(({ response }) => response === nearest)?.call
    if (found) answered.add(found)
    return found
  }

  /** The nearest calls, in the order in which they were made: results come in the order of their calls. */
  function takeNearest(count: number, isMatch: (call: CallPart) => boolean): CallPart[] {
    if (count === 0) return []
    const open = responses.map((calls) => calls.filter((call) => !answered.has(call)))
    responses = open.filter((calls) => calls.length > 0)
    const nearest = responses
      .toReversed()
      .flatMap((calls) => calls.filter(isMatch))
      .slice(0, count)
    for (const call of nearest) answered.add(call)
    const chosen = new Set(nearest)
    return responses.flat().filter((call) => chosen.has(call))
  }

  return {
    addResponse(calls) {
      if (calls.length > 0) responses.push(calls)
      for (const call of calls) {
        const id = call.native?.id
        if (id === undefined) continue
        const sameId = byId.get(id)
        if (sameId) sameId.push({ call, response: calls })
        else byId.set(id, [{ call, response: calls }])
      }
    },
    match(results) {
      const found = new Map<ResultReference, CallPart>()
      const listOpen = () => results.filter((result) => !found.has(result))
      const assign = (open: readonly ResultReference[], isMatch: (call: CallPart) => boolean): void => {
        const calls = takeNearest(open.length, isMatch)
        for (const [at, call] of calls.entries()) {
          const result = open[at]
          if (result) found.set(result, call)
        }
      }
      for (const result of results) {
        const call = result.id === undefined ? undefined : takeById(result.id)
        if (call) found.set(result, call)
      }
      for (const name of new Set(results.map((result) => result.name)))
        if (name !== undefined)
          assign(
            listOpen().filter((result) => result.name === name),
            (call) => call.name === name,
          )
      if (anyName)
        assign(
          listOpen().filter(({ id }) => id === undefined),
          () => true,
        )
      return results.map((result) => found.get(result))
    },
  }
}
