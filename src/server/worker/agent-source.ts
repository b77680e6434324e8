import type { AgentContext } from '../../agent/agent-context.ts'
import type { AgentOptions } from '../../agent/library/agent-options.ts'
import type { Model } from '../../provider/index.ts'
import type { Schema } from '../../tool/infer-schema.ts'
import type { SessionKey } from '../backend.ts'
import type { SessionSettings } from '../session-settings.ts'

/** A session that an agent is needed for. */
export interface SessionContext extends SessionKey {
  readonly settings: SessionSettings
  /** When it was created, in milliseconds since 1970. */
  readonly created?: number
}

/** The options of an agent whose store and session are those of the server. */
export type ServedAgentOptions = Omit<
  AgentOptions<Schema | undefined>,
  'store' | 'session' | 'createIfMissing' | 'onApproval'
>

export interface ServedAgent {
  readonly options: ServedAgentOptions
  /** What the options of the library do not have. */
  readonly context?: Pick<Partial<AgentContext>, 'toolbox' | 'describeEnvironment'>
  /** Called when the worker leaves the session. */
  close?(): Promise<void> | void
}

/**
 * Makes the agent of a session. What it throws ends the prompt with a fault. `limitModel` applies the quota of the tenant to a model
 * that tools use; that of the agent is limited anyway.
 */
export type AgentSource = (
  session: SessionContext,
  signal: AbortSignal,
  limitModel: (model: Model) => Model,
) => Promise<ServedAgent>
