import type { TurnEvent } from '../../model/event.ts'
import type { RunEvent } from '../loop/run-event.ts'
import type { OutputContract } from './output-contract.ts'
import { parsePartialJson } from './partial-json.ts'

/** Follows the text of one response, and shows what there is of the answer. */
export interface PartialOutput {
  onEvent(event: TurnEvent): RunEvent[]
}

/**
 * The text so far is parsed again only when it has grown by a part of its length, so the cost of a response is linear in
 * its length. Text before the JSON shows nothing: it may contain brackets of its own.
 */
export function createPartialOutput(contract: OutputContract): PartialOutput {
  const indices = new Set<number>()
  let text = ''
  let parsedChars = 0

  function restart(): void {
    text = ''
    parsedChars = 0
  }

  return {
    onEvent(event) {
      if (event.type === 'open' && event.anew) {
        indices.clear()
        restart()
      }
      if (event.type === 'part-open' && event.kind === 'text') {
        indices.add(event.index)
        // A vendor may split a text into parts anywhere.
        if (findJsonStart(text) === undefined) restart()
      }
      if (event.type !== 'part-delta' || !indices.has(event.index)) return []
      text += event.text
      if (text.length < parsedChars * MIN_GROWTH) return []
      parsedChars = text.length
      const start = findJsonStart(text)
      const value = start === undefined ? undefined : parsePartialJson(text.slice(start))
      const output = value === undefined ? undefined : contract.toPartial(value)
      return output === undefined ? [] : [{ type: 'output', value: output, isPartial: true }]
    },
  }
}

const MIN_GROWTH = 17 / 16

/** The JSON must be the first thing in the text, or in its code fence. */
function findJsonStart(text: string): number | undefined {
  return /^\s*(?:```\w*[ \t]*\r?\n\s*)?(?=[[{])/.exec(text)?.[0].length
}
