import type { Agent } from '../../../agent/agent.ts'
import type { SandboxState } from '../../../host/sandbox/sandbox.ts'
import type { ApprovalMode } from '../../../policy/policy.ts'
import type { McpServers } from '../../../tool/mcp/server/servers.ts'
import type { Settings } from '../../config/read-settings.ts'
import type { Ui } from '../ui.ts'
import type { MenuItem } from '../ui-state.ts'
import type { RunController } from '../run-controller.ts'

/** What a slash command can use. */
export interface SlashCommandContext {
  readonly ui: Ui
  readonly controller: RunController
  readonly settings: Settings
  readonly folder: string
  readonly agent: () => Agent
  /** The tool servers of this session. */
  readonly servers: () => McpServers | undefined
  /** Another model from the next request on; says what went wrong, if anything did. */
  readonly setModel: (name: string) => Promise<string | undefined>
  readonly setMode: (mode: ApprovalMode) => void
  readonly sandbox: {
    readonly state: () => Promise<SandboxState>
    /** Whether commands in the sandbox reach the network, from the next one on. */
    readonly setNetwork: (isOpen: boolean) => Promise<void>
  }
  /** Lets another program work on this session, which is closed meanwhile. */
  readonly withSessionClosed: (use: (id: string) => Promise<void>) => Promise<void>
  /** Leaves this session and goes on with another, or with a new one. */
  readonly openSession: (session: { readonly resume?: string; readonly fork?: string }) => Promise<void>
  /** Puts a command into the input and shows the choices for its argument. */
  readonly offerChoices: (command: string) => Promise<void>
  /** All commands: ours, the person's own, and those of servers. */
  readonly listCommands: () => readonly SlashCommand[]
  readonly quit: () => void
}

/** A command that begins with a slash. */
export interface SlashCommand {
  readonly name: string
  /** What it is called elsewhere. */
  readonly aliases?: readonly string[]
  readonly about: string
  /** What stands after the name, for the help. */
  readonly takes?: string
  run(context: SlashCommandContext, words: string): void | Promise<void>
  /** What can stand after the name. */
  choices?(context: SlashCommandContext): readonly MenuItem[] | Promise<readonly MenuItem[]>
  /** Other words can stand there too. */
  readonly allowsOtherValues?: true
}
