import type { TurnEvent } from '../../model/event.ts'
import type { Json } from '../../model/json.ts'
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
  let index = -1
  let text = ''
  let parsedChars = 0

  function reset(next: number): void {
    ;[index, text, parsedChars] = [next, '', 0]
  }

  return {
    onEvent(event) {
      if (event.type === 'open' && event.anew) reset(-1)
      if (event.type === 'part-open' && event.kind === 'text') reset(event.index)
      if (event.type !== 'part-delta' || event.index !== index) return []
      text += event.text
      if (text.length < parsedChars * MIN_GROWTH) return []
      parsedChars = text.length
      const value = readPartial(text)
      const output = value === undefined ? undefined : contract.toPartial(value)
      return output === undefined ? [] : [{ type: 'output', value: output, isPartial: true }]
    },
  }
}

const MIN_GROWTH = 17 / 16

function readPartial(text: string): Json | undefined {
  const start = /^\s*(?:```\w*[ \t]*\r?\n\s*)?(?=[[{])/.exec(text)?.[0].length
  return start === undefined ? undefined : parsePartialJson(text.slice(start))
}
