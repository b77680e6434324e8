import type { AppParts } from '../app-parts.ts'
import type { MenuItem } from '../ui-state.ts'

export interface SlashCommand {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly about: string
  /** Its arguments, for the help. */
  readonly takes?: string
  run(app: AppParts, words: string): void | Promise<void>
  choices?(app: AppParts): readonly MenuItem[] | Promise<readonly MenuItem[]>
  /** It only sends a prompt: a custom command of the same name takes its place. */
  readonly isPrompt?: true
  /** The argument may also be something else. */
  readonly allowsOtherValues?: true
}
