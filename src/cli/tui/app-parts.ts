import type { RunArgs } from '../args/run-args.ts'
import type { Settings } from '../config/read-settings.ts'
import type { ActiveSession } from './active-session.ts'
import type { Completer } from './input/completer.ts'
import type { ResourceMentions } from './mcp-prompts-and-resources.ts'
import type { RunController } from './run-controller.ts'
import type { SlashCommandList } from './slash/command-list.ts'
import type { StatusUpdates } from './status-updates.ts'
import type { TerminalSignals } from './terminal-signals.ts'
import type { Ui } from './ui.ts'
import type { UserShell } from './user-shell.ts'

/** The parts of the interactive front end. A function takes those that it needs. */
export interface AppParts {
  readonly args: RunArgs
  readonly folder: string
  readonly settings: Settings
  readonly ui: Ui
  readonly session: ActiveSession
  readonly controller: RunController
  readonly userShell: UserShell
  readonly mentions: ResourceMentions
  readonly status: StatusUpdates
  readonly commands: SlashCommandList
  readonly completer: Completer
  /** Absent on plain terminals. */
  readonly signals?: TerminalSignals
  /** A status line of the user's own. */
  readonly customStatus?: { refresh(): Promise<void> }
  readonly exit: (code: number) => void
  readonly exited: Promise<number>
}
