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
  /** The calls of each response that has some left. */
  let responses: (readonly CallPart[])[] = []

  /** The nearest calls, in the order in which they were made: results come in the order of their calls. */
  function takeNearest(count: number, isMatch: (call: CallPart) => boolean): CallPart[] {
    const nearest = responses
      .toReversed()
      .flatMap((calls) => calls.filter(isMatch))
      .slice(0, count)
    const chosen = responses.flat().filter((call) => nearest.includes(call))
    const left = responses.map((calls) => calls.filter((call) => !chosen.includes(call)))
    responses = left.filter((calls) => calls.length > 0)
    return chosen
  }

  return {
    addResponse(calls) {
      if (calls.length > 0) responses.push(calls)
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
        const { id } = result
        if (id !== undefined) assign([result], (call) => call.native?.id === id)
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
