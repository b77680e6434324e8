// dragoman/embed/interactions: Gemini's Interactions API.
import type { ToolDefinition } from './tool-calls/definitions.ts'
import {
  type CallResult,
  type DeclareToolsOptions,
  encodeContinuation,
  encodeToolFields,
  type ToHistoryOptions,
} from './tool-calls/request.ts'
import {
  type AssembledResponse,
  createResponseAssembler,
  type ResponseAssembler,
  type ResponseAssemblerOptions,
} from './tool-calls/response-assembler.ts'
import type {
  InteractionsEvent,
  InteractionsFunctionTool,
  InteractionsStep,
  InteractionsToolChoice,
} from './vendor-types/interactions.ts'
import { interactions } from '../wire/interactions/wire.ts'

/** Creates an assembler for one response of the Interactions API. Several can be used in parallel. */
export function createAssembler(options: ResponseAssemblerOptions = {}): ResponseAssembler<InteractionsEvent> {
  return createResponseAssembler(interactions, options)
}

/** The fields of a request that declare tools, in names and schemas that the vendor accepts; none without tools. */
export function declareTools(
  tools: readonly ToolDefinition[],
  options: DeclareToolsOptions = {},
): InteractionsToolFields {
  // The choice stands among the settings, of which the host has its own.
  const wire = { ...interactions, profile: { ...interactions.profile, thinking: 'none' as const } }
  return encodeToolFields(wire, ['tools', 'generation_config'], tools, options)
}

/** The steps to append to `input`: the response with its thoughts, and the results of its calls. `Step` is the type of your history. */
export function toHistory<Step = InteractionsStep>(
  response: AssembledResponse,
  results: readonly CallResult[] = [],
  options: ToHistoryOptions = {},
): Step[] {
  return encodeContinuation(interactions, response, results, options)['input'] as unknown as Step[]
}

export type { ToolDefinition } from './tool-calls/definitions.ts'
export { assembleStream } from './tool-calls/response-assembler.ts'
export type {
  AssembledCall,
  AssembledResponse,
  RejectedCall,
  ResponseAssembler,
  ResponseAssemblerOptions,
  ResponseEvent,
  ResponseTurn,
} from './tool-calls/response-assembler.ts'
export type { CallResult, DeclareToolsOptions, ResultMedia, ToHistoryOptions } from './tool-calls/request.ts'
export type {
  InteractionsEvent,
  InteractionsFunctionTool,
  InteractionsStep,
  InteractionsToolChoice,
} from './vendor-types/interactions.ts'
export type { Warning } from '../model/event.ts'
export type { Fault } from '../model/fault.ts'
export type { Finish, NativeData } from '../model/turn.ts'
export type { ToolChoice } from '../model/request.ts'
export type { Usage } from '../model/usage.ts'
export type { Json, JsonObject } from '../model/json.ts'

/** The fields of a request that declare tools. Merge `generation_config` with your own settings. */
export interface InteractionsToolFields {
  tools?: InteractionsFunctionTool[]
  generation_config?: { tool_choice?: InteractionsToolChoice }
}
