import type { Host } from '../host/host.ts'
import type { Fault } from '../model/fault.ts'
import type { ProviderOptions } from '../model/provider-options.ts'
import type { ModelParams, ToolChoice } from '../model/request.ts'
import type { CallPart, UserTurn } from '../model/turn.ts'
import type { ApprovalMode, Policy } from '../policy/policy.ts'
import type { SandboxAccessRules } from '../policy/sandbox-access.ts'
import type { Catalog } from '../provider/catalog.ts'
import type { Clock, Model } from '../provider/index.ts'
import type { Session } from '../session/session.ts'
import type { SeenFiles } from '../tool/tool.ts'
import type { Toolbox } from '../tool/toolbox.ts'
import type { ApprovalRequest, ApprovalReply } from './calls/call-state.ts'
import type { BackgroundRuns } from './subagents/background-runs.ts'
import type { Hooks } from './hooks/hooks.ts'
import type { OutputSpec } from './output/output-spec.ts'

/** Everything that a run uses. It reaches files, processes and the network only through these. */
export interface AgentContext {
  readonly session: Session
  readonly model: Model
  readonly toolbox: Toolbox
  readonly policy: Policy
  readonly host: Host
  /** The first one is the working folder. */
  readonly folders: readonly string[]
  readonly seenFiles: SeenFiles
  /** The system prompt, byte for byte the same during the whole session. */
  readonly system: string
  /** The first message of a session: date, folders, instructions files. It is repeated after each compaction. */
  readonly describeEnvironment?: () => { readonly text: string; readonly notices?: readonly string[] }
  readonly params?: ModelParams
  /** A choice that forces a call applies until the run has made one: a model that must call can never finish. */
  readonly toolChoice?: ToolChoice
  /** Fields of the request body that only one API has. */
  readonly providerOptions?: ProviderOptions
  /** The schema of the answer. The run ends with a value that fits it, or with the fault `output-invalid`. */
  readonly output?: OutputSpec
  readonly limits?: RunLimits
  /** Asks the vendor why its prompt cache missed, where it can tell. */
  readonly diagnoseCache?: boolean
  /** `share`: how full the context window may get. `keep`: how much of the history is kept unchanged. Both from 0 to 1. */
  readonly compaction?: { readonly share?: number; readonly keep?: number }
  /**
   * Asks the user. `undefined`: there is no answer yet, so the run ends, and the call waits in the log for one. Without
   * this function, calls that need approval are denied.
   */
  readonly requestApproval?: (ask: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalReply | undefined>
  /** The approval mode, if it can change during the run: by the user, or by an approved plan. */
  readonly mode?: { get(): ApprovalMode; set(mode: ApprovalMode): void }
  /** Which commands may run with more access than the sandbox gives. */
  readonly sandboxAccess?: SandboxAccessRules
  /** Called when a request was sent: until the response comes, the host has time for other work. */
  readonly onRequestSent?: () => void
  /** The messages that the user has sent since the last call; read between turns. */
  readonly takeQueuedMessages?: () => readonly UserTurn['parts'][]
  /** The agent that a call has chosen to continue the conversation; read before each request. */
  readonly takeHandoff?: () => { readonly name: string; readonly agent: AgentContext } | undefined
  /** Called before and after calls, prompts, compactions and ends. */
  readonly hooks?: Hooks
  /** Its name, if it is a subagent. */
  readonly subagent?: string
  /** A hook ends the run by a reason here. */
  readonly stopRequest?: { reason?: string }
  /** Subagents that run beside the run. Without it, all are waited for at once. */
  readonly background?: BackgroundRuns
  /** Runs a tool in the context of its trace span, so that spans of the tool become children of it. */
  readonly traceToolRun?: <T>(call: CallPart, run: () => Promise<T>) => Promise<T>
  /** Applies the cost limit of this agent to a model that another agent uses. */
  readonly limitModel?: (model: Model) => Model
  /** Will somebody resume the run after this fault? Then it has not ended in the log. */
  readonly canRetryLater?: (fault: Fault) => boolean
  /** Writes a long text to a file and returns its path. */
  readonly writeOverflowFile?: (name: string, text: string) => Promise<string>
  /** Context windows and prices of models. Loaded only when needed, and never before the first request is sent. */
  readonly catalog?: () => Promise<Catalog>
  readonly clock: Clock
  /** Returns a unique id of letters and digits. */
  readonly createId: () => string
}

/** The limits of a run. */
export interface RunLimits {
  readonly turns?: number
  readonly ms?: number
  /** In US dollars; applies if the price of the model is known. */
  readonly cost?: number
}
