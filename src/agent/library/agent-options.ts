import type { Host } from '../../host/host.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ProviderOptions } from '../../model/provider-options.ts'
import type { ModelParams, ToolChoice } from '../../model/request.ts'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import type { Grant, GrantScope, ApprovalMode, Policy } from '../../policy/policy.ts'
import type { Model } from '../../provider/index.ts'
import type { Store } from '../../session/store/store.ts'
import type { Schema } from '../../tool/infer-schema.ts'
import type { Tool } from '../../tool/tool.ts'
import type { RunLimits } from '../agent-context.ts'
import type { ApprovalRequest } from '../calls/call-state.ts'
import type { Hooks } from '../hooks/hooks.ts'
import type { Tracer } from '../telemetry/tracer.ts'
import type { Agent } from './library-agent.ts'

/** Settings of the requests to the model. What is absent is not sent. */
export interface ModelSettings {
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stop?: readonly string[]
  /** How much the model should think; a number is a token budget, on wires that have budgets. */
  readonly reasoningEffort?: NonNullable<ModelParams['effort']>
  /** May the model make several calls in one response? */
  readonly parallelToolCalls?: boolean
  /**
   * Whether the model may, must or must not call tools: `auto`, `required`, `none`, `{ name }` or `{ only: [names] }`. What forces a
   * call applies until the run has made one.
   */
  readonly toolChoice?: ToolChoice
  /** How long the vendor should keep the prompt in its cache. */
  readonly cacheTtl?: NonNullable<ModelParams['cacheTtl']>
  /** Fields of the request body that only one API has, by wire. */
  readonly providerOptions?: ProviderOptions
}

/** The options of `agent`. Only the model is required. */
export interface AgentOptions<Output extends Schema | undefined = undefined> extends ModelSettings {
  /**
   * `provider/model`; `a/x,b/y` uses the second model if the first one cannot answer. The key comes from the environment, or
   * from `dragoman login`. Or a model of `provider()` or of your own.
   */
  readonly model: string | Model
  /** The system prompt. */
  readonly instructions?: string
  readonly tools?: readonly Tool[]
  /** Which calls may run, which need approval, and which are denied. The default is the approval mode `default`. */
  readonly policy?: Policy | ApprovalMode
  /** Decides about a call that needs approval. Without it, or if it returns undefined, the run ends and the call waits. */
  readonly onApproval?: OnApproval
  /** The schema of the answer, if it should be a value and not text. */
  readonly output?: Output
  /** Functions that are called before and after calls, prompts and ends: they can refuse, change and add. */
  readonly hooks?: Hooks
  /** Where sessions are kept; the default is in memory. */
  readonly store?: Store
  /** The id of the session to continue. Without it, a new session is created. */
  readonly session?: string | undefined
  /** Create the session if the store does not have it. */
  readonly createIfMissing?: boolean
  /** Carries out the file access and the commands of the built-in tools. */
  readonly host?: Host
  /** The folders that the built-in tools work in; the first one is the working folder. */
  readonly folders?: readonly string[]
  /** Limits of each run; `cost` is for all runs together. */
  readonly limits?: RunLimits
  /** How this agent is called as a tool of another one, and in traces. */
  readonly name?: string
  /** What this agent does, for the model of an agent that has it as a tool. */
  readonly description?: string
  /** Agents that can take over the conversation; the model chooses one with a tool `transfer_to_<name>`. */
  readonly handoffs?: readonly Agent<unknown>[]
  /** An OpenTelemetry tracer that gets a span for each run, request and call; with `prompts`, also their content. */
  readonly telemetry?: { readonly tracer: Tracer; readonly prompts?: boolean }
}

/** The options of one run. They take precedence over those of the agent. */
export interface RunOptions<Output extends Schema | undefined = undefined> extends ModelSettings {
  /** Stops the run. */
  readonly signal?: AbortSignal | undefined
  /** Another model for this run. */
  readonly model?: string | Model
  readonly onApproval?: OnApproval
  readonly output?: Output
  readonly limits?: RunLimits
}

/** Decides about a call. `undefined` leaves it open: answer it later with `agent.reply`, then call `agent.resume`. */
export type OnApproval = (
  request: ApprovalRequest,
  options: { readonly signal: AbortSignal },
) => ApprovalAnswer | undefined | Promise<ApprovalAnswer | undefined>

/** Yes or no to a call, or a longer answer. */
export type ApprovalAnswer =
  | boolean
  | {
      readonly approved: true
      /** Other arguments than those of the model. */
      readonly input?: JsonObject
      /** Allow such calls from now on: the first grant that the request offers, or this one. The default scope is the session. */
      readonly always?: true | { readonly grant?: Grant; readonly scope?: GrantScope }
    }
  | {
      readonly approved: false
      /** What the model is told. */
      readonly message?: string
    }

/** A part of a prompt. */
export type InputPart = string | TextPart | MediaPart | MediaBytes

/** An image, a sound or a document as bytes. */
export interface MediaBytes {
  readonly kind: 'media'
  /** For example `image/png`, `application/pdf`, `audio/wav`. */
  readonly mime: string
  readonly data: Uint8Array
  readonly name?: string
}
