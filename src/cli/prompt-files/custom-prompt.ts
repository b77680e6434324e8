import type { TemplateSyntax } from './template.ts'

/** A prompt from a file, by name: a custom command or a skill. */
export interface CustomPrompt {
  readonly kind: 'command' | 'skill'
  readonly name: string
  readonly about: string
  readonly path: string
  readonly argumentHint?: string
  /** What may run without approval while its prompt is worked on; the names may be those of another agent. */
  readonly allowedTools: readonly string[]
  /** As it stands in the file; often the name of another agent. */
  readonly model?: string
  /** Is it offered as a slash command? Default: yes. */
  readonly isHidden?: boolean
  load(): { readonly template: string; readonly syntax: TemplateSyntax } | { readonly problem: string }
}
