import type { Agent } from '../../../agent/agent.ts'
import type { SandboxState } from '../../../host/sandbox/sandbox.ts'
import type { ApprovalMode } from '../../../policy/policy.ts'
import type { Servers } from '../../../tool/mcp/servers.ts'
import type { Settings } from '../../config/read.ts'
import type { Front } from '../front.ts'
import type { MenuItem } from '../state.ts'
import type { Talk } from '../talk.ts'

/** What a slash command can use. */
export interface Desk {
  readonly front: Front
  readonly talk: Talk
  readonly settings: Settings
  readonly folder: string
  readonly agent: () => Agent
  /** The tool servers of this session. */
  readonly servers: () => Servers | undefined
  /** Another model from the next request on; says what went wrong, if anything did. */
  readonly setModel: (name: string) => Promise<string | undefined>
  readonly setMode: (mode: ApprovalMode) => void
  readonly sandbox: {
    readonly state: () => Promise<SandboxState>
    /** Whether commands in the sandbox reach the network, from the next one on. */
    readonly setNetwork: (isOpen: boolean) => Promise<void>
  }
  /** Lets another program work on this session, which is closed meanwhile. */
  readonly apart: (use: (id: string) => Promise<void>) => Promise<void>
  /** Leaves this session and goes on with another, or with a new one. */
  readonly open: (session: { readonly resume?: string; readonly fork?: string }) => Promise<void>
  /** Puts words into the input, with what can stand after them below it. */
  readonly offer: (text: string) => Promise<void>
  /** All commands: ours, the person's own, and those of servers. */
  readonly slashes: () => readonly Slash[]
  readonly quit: () => void
}

/** A command that begins with a slash. */
export interface Slash {
  readonly name: string
  /** What it is called elsewhere. */
  readonly aliases?: readonly string[]
  readonly about: string
  /** What stands after the name, for the help. */
  readonly takes?: string
  run(desk: Desk, words: string): void | Promise<void>
  /** What can stand after the name. */
  choices?(desk: Desk): readonly MenuItem[] | Promise<readonly MenuItem[]>
  /** Other words can stand there too. */
  readonly takesOthers?: true
}
