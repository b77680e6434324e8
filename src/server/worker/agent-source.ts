import type { AgentOptions } from '../../agent/library/agent-options.ts'
import type { Schema } from '../../tool/infer-schema.ts'
import type { SessionKey } from '../backend.ts'
import type { SessionSettings } from '../session-settings.ts'

/** A session that an agent is needed for. */
export interface SessionContext extends SessionKey {
  readonly settings: SessionSettings
}

/** The options of an agent whose store and session are those of the server. */
export type ServedAgentOptions = Omit<
  AgentOptions<Schema | undefined>,
  'store' | 'session' | 'createIfMissing' | 'onApproval'
>

export interface ServedAgent {
  readonly options: ServedAgentOptions
  /** Called when the worker leaves the session. */
  close?(): Promise<void> | void
}

/** Makes the agent of a session. What it throws ends the prompt with a fault. */
export type AgentSource = (session: SessionContext, signal: AbortSignal) => Promise<ServedAgent>
