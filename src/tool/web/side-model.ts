import { startFold } from '../../model/fold.ts'
import { type Grounding, groundingOf } from '../../model/grounding.ts'
import type { ServerTool } from '../../model/request.ts'
import { textOf } from '../../model/text.ts'
import type { Usage } from '../../model/usage.ts'
import type { ModelPort } from '../../provider/port.ts'

/** A model that a tool may ask one question, apart from the conversation. */
export interface SideModel {
  /** What its vendor can look up by itself. */
  readonly can: readonly ServerTool[]
  /** How many tokens it takes in, where that is known. */
  readonly window?: number | undefined
  ask(question: string, tools: readonly ServerTool[], signal: AbortSignal): Promise<SideAnswer>
}

/** Its answer; or why there is none. */
export type SideAnswer =
  | { readonly text: string; readonly grounding?: Grounding; readonly usage?: Usage }
  | { readonly problem: string }

/** The model of the agent, for questions of its tools. It sees nothing of the conversation, and can call nothing. */
export function sideModel(chosen: () => ModelPort, mint: () => string): SideModel {
  return {
    // The person may choose another model at any time.
    get can() {
      return chosen().serverTools ?? []
    },
    get window() {
      return chosen().window
    },
    async ask(question, serverTools, signal) {
      const port = chosen()
      if (serverTools.some((tool) => !port.serverTools?.includes(tool)))
        return { problem: `${port.origin.model} cannot look anything up by itself.` }
      const folding = startFold(port.origin)
      const request = {
        model: port.origin.model,
        tools: [],
        ...(serverTools.length > 0 && { serverTools }),
        turns: [{ role: 'user', parts: [{ kind: 'text', text: question }] }],
      } as const
      for await (const event of port.ask(request, { key: mint(), signal })) folding.push(event)
      const { turn } = folding.end()
      const text = textOf(turn.parts).trim()
      if (turn.finish.fault) return { problem: turn.finish.fault.message }
      if (text === '') return { problem: `The model gave no answer (${turn.finish.reason}).` }
      const grounding = groundingOf(turn)
      return { text, ...(grounding && { grounding }), ...(turn.usage && { usage: turn.usage }) }
    },
  }
}
