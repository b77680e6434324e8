import type { Host } from '../host/host.ts'
import type { ModelParams } from '../model/request.ts'
import type { UserTurn } from '../model/turn.ts'
import type { ApprovalMode, Policy } from '../policy/policy.ts'
import type { SandboxAccessRules } from '../policy/sandbox-access.ts'
import type { Catalog } from '../provider/catalog.ts'
import type { Clock, Model } from '../provider/index.ts'
import type { Session } from '../session/session.ts'
import type { SeenFiles } from '../tool/tool.ts'
import type { Toolbox } from '../tool/toolbox.ts'
import type { ApprovalRequest, ApprovalReply } from './calls/call-state.ts'

/** What a run is made of. Nothing here is a vendor's, and nothing reaches the world but through these. */
export interface Agent {
  readonly session: Session
  readonly model: Model
  readonly toolbox: Toolbox
  readonly policy: Policy
  readonly host: Host
  /** The folders it works in; the first one is where it was started. */
  readonly folders: readonly string[]
  readonly seenFiles: SeenFiles
  /** The system prompt: the same, byte for byte, for the life of the session. */
  readonly system: string
  /** Describes where the agent is: date, folders, instructions files. Stated first, and anew at each compaction. */
  readonly describeEnvironment?: () => { readonly text: string; readonly notices?: readonly string[] }
  readonly params?: ModelParams
  readonly limits?: RunLimits
  /** When and how a long history is summarised. */
  readonly compaction?: { readonly share?: number; readonly keep?: number }
  /** Puts a question to a person. Without it nobody is there, and a question is a denial. */
  readonly requestApproval?: (ask: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalReply>
  /** The approval mode, where it can change while the agent works: the person sets it, and an approved plan does. */
  readonly mode?: { get(): ApprovalMode; set(mode: ApprovalMode): void }
  /** Which commands may do more than the sandbox lets them. */
  readonly sandboxAccess?: SandboxAccessRules
  /** What the person has typed since the last time; delivered between turns. */
  readonly takeQueuedMessages?: () => readonly UserTurn['parts'][]
  /** Keeps a long text in a file; gives its path. */
  readonly writeOverflowFile?: (name: string, text: string) => Promise<string>
  /** What models take in and cost; fetched only when it is needed, and never before the first request is under way. */
  readonly catalog?: () => Promise<Catalog>
  readonly clock: Clock
  /** Letters and digits that nobody has used before. */
  readonly createId: () => string
}

/** How far a run may go. */
export interface RunLimits {
  readonly turns?: number
  readonly ms?: number
  /** In US dollars, where the price of the model is known. */
  readonly cost?: number
}
