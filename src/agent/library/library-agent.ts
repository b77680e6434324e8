import type { Turn } from '../../model/turn.ts'
import type { InferSchema, Schema } from '../../tool/infer-schema.ts'
import type { Tool } from '../../tool/tool.ts'
import type { InputPart, RunOptions } from './agent-options.ts'
import type { PendingApproval } from './approvals.ts'
import type { Run } from './run-handle.ts'

/** The value of the answer with this schema; undefined without one. */
export type InferOutput<S extends Schema | undefined> = S extends Schema ? InferSchema<S> : undefined

/** An agent with one session. It works on one prompt at a time; agents do not disturb each other. */
export interface Agent<Output = undefined> {
  /** The id of the session. */
  readonly session: string
  readonly name: string
  readonly description: string
  /** The conversation so far, as the model gets it. */
  readonly history: Promise<readonly Turn[]>
  /** The calls that wait for approval. */
  readonly pending: Promise<readonly PendingApproval[]>
  /** Works on a prompt. Throws an `AgentBusyError` while another run is not finished. */
  run<const S extends Schema>(
    input: string | readonly InputPart[],
    options: RunOptions<S> & { readonly output: S },
  ): Run<InferSchema<S>>
  run(input: string | readonly InputPart[], options?: RunOptions): Run<Output>
  /** Continues a session that was interrupted, or whose calls were waiting for approval. */
  resume(options?: RunOptions): Run<Output>
  /** Sends a message to the run that is in progress; the model gets it with its next request. Otherwise, it is kept for the next run. */
  send(message: string | readonly InputPart[]): void
  /**
   * Answers a request for approval, perhaps one of another process; it counts when the session is resumed. Throws if there is no
   * such open request.
   */
  reply(id: string, answer: boolean | { readonly approved: boolean; readonly message?: string }): Promise<void>
  /** Replaces the older part of the history by a summary of the model. Is the history shorter now? */
  compact(options?: { readonly signal?: AbortSignal }): Promise<boolean>
  /** A new agent with a copy of this session. Later turns of one do not reach the other. */
  fork(): Promise<Agent<Output>>
  /** This agent as a tool of another one. Each call is a new session with the prompt that the other model writes. */
  asTool(options?: { readonly name?: string; readonly description?: string }): Tool
  /** Closes the session, so that others can open it. A run in progress is stopped first. */
  close(): Promise<void>
}

/** A second run was started on an agent that has not finished the first one. */
export class AgentBusyError extends Error {
  override readonly name = 'AgentBusyError'
}
