import type { AgentContext } from '../agent/agent-context.ts'
import type { RunEvent } from '../agent/loop/run-event.ts'
import type { Host } from '../host/host.ts'
import type { ModelParams } from '../model/request.ts'
import type { UserTurn } from '../model/turn.ts'
import type { SessionSummary } from '../session/store/store.ts'
import type { McpServerConfig } from '../tool/mcp/client/server-config.ts'
import type { ElicitationView } from '../tool/mcp/connection/request-handler.ts'
import type { AuthMethod } from './protocol.ts'

/** What the command provides: how sessions are found and agents assembled. It throws a `ProtocolError` for the client. */
export interface AcpSetup {
  readonly version: string
  /** The ways to sign in. `hasTerminal`: the client can run a sign-in on a terminal. */
  listAuthMethods(hasTerminal: boolean): AuthMethod[]
  /** Checks that a model can be used. */
  authenticate(): Promise<void>
  /** Removes the stored sign-in of the default model's provider. */
  logout(): Promise<void>
  /** The sessions of a folder, or of all folders, the latest first. */
  listSessions(folder: string | undefined): Promise<readonly SessionSummary[]>
  removeSession(id: string): Promise<void>
  openSession(target: SessionTarget, frontEnd: SessionFrontEnd): Promise<OpenedSession>
}

export interface SessionTarget {
  readonly folder: string
  readonly directories: readonly string[]
  /** Servers of the client, beside those of the settings. */
  readonly mcpServers: Readonly<Record<string, McpServerConfig>>
  /** The session to continue; without it, a new one. */
  readonly resume?: string
}

/** What a session gets from the editor. */
export interface SessionFrontEnd {
  readonly requestApproval: NonNullable<AgentContext['requestApproval']>
  readonly wrapHost: WrapHost
  readonly elicitationView?: ElicitationView
}

/** Replaces files and commands of a host by those of the editor. `isSandboxed`: do commands of the host run in a sandbox? */
export type WrapHost = (host: Host, options: HostWrapOptions) => Host

export interface HostWrapOptions {
  readonly isSandboxed: () => Promise<boolean>
  /** A folder for our own files. */
  readonly scratch: string
}

export interface OpenedSession {
  /** With the model and the effort that are set now. */
  readonly agent: AgentContext
  readonly notices: readonly string[]
  readonly effort: ModelParams['effort']
  setModel(name: string): Promise<void>
  /** Undefined: the model decides. */
  setEffort(effort: ModelParams['effort']): void
  listModels(): Promise<readonly string[]>
  listCommands(): readonly EditorCommand[]
  /** The cost of all runs so far in US dollars, if the prices are known. */
  computeCost(): Promise<number | undefined>
  /** Why a run did not end well, for the user. */
  describeProblem(event: Extract<RunEvent, { type: 'run-close' }>): string | undefined
  onEvent(event: RunEvent): void
  close(): Promise<void>
}

/** A slash command that an editor offers. */
export interface EditorCommand {
  readonly name: string
  readonly about: string
  /** What its argument is, if it takes one. */
  readonly takes?: string
  run(words: string, signal: AbortSignal): CommandOutcome | Promise<CommandOutcome>
}

/** A prompt for the model, a message with files, a text for the user, or the wish to summarize the conversation. */
export type CommandOutcome =
  | { readonly prompt: string }
  | { readonly parts: UserTurn['parts']; readonly ownText: string; readonly remarks: readonly string[] }
  | { readonly text: string }
  | { readonly compacts: true }
