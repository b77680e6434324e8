import { createTurnFold } from '../model/fold.ts'
import { type Grounding, readGrounding } from '../model/grounding.ts'
import type { ServerTool } from '../model/request.ts'
import { joinTextParts } from '../model/text.ts'
import type { Usage } from '../model/usage.ts'
import type { Model } from '../provider/index.ts'
import { defined } from '../model/defined.ts'

/** A model that a tool may ask one question, apart from the conversation. */
export interface AuxiliaryModel {
  readonly serverTools: readonly ServerTool[]
  /** The context window in tokens, if known. */
  readonly window?: number | undefined
  query(question: string, tools: readonly ServerTool[], signal: AbortSignal): Promise<AuxiliaryAnswer>
}

export type AuxiliaryAnswer =
  | { readonly text: string; readonly grounding?: Grounding; readonly usage?: Usage }
  | { readonly problem: string }

/** The model of the agent, for questions of its tools. It sees nothing of the conversation, and can call nothing. */
export function createAuxiliaryModel(getModel: () => Model, createId: () => string): AuxiliaryModel {
  return {
    // The user may choose another model at any time.
    get serverTools() {
      return getModel().serverTools ?? []
    },
    get window() {
      return getModel().window
    },
    async query(question, serverTools, signal) {
      const currentModel = getModel()
      if (serverTools.some((tool) => !currentModel.serverTools?.includes(tool)))
        return { problem: `${currentModel.origin.model} has no server tool for this.` }
      const turnFold = createTurnFold(currentModel.origin)
      const request = {
        model: currentModel.origin.model,
        tools: [],
        ...(serverTools.length > 0 && { serverTools }),
        turns: [{ role: 'user', parts: [{ kind: 'text', text: question }] }],
      } as const
      for await (const event of currentModel.stream(request, { turnKey: createId(), signal })) turnFold.push(event)
      const { turn } = turnFold.end()
      const text = joinTextParts(turn.parts).trim()
      if (turn.finish.fault) return { problem: turn.finish.fault.message }
      if (text === '') return { problem: `The model returned no text (${turn.finish.reason}).` }
      const grounding = readGrounding(turn)
      return { text, ...defined({ grounding, usage: turn.usage }) }
    },
  }
}
