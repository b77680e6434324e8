import type { AgentContext } from '../../agent/agent-context.ts'
import type { UserTurn } from '../../model/turn.ts'
import { attachMentionedFiles } from '../tui/mention/attachments.ts'
import type { CustomPrompt } from './custom-prompt.ts'
import { expandPrompt } from './expand-prompt.ts'
import type { PromptGrants } from './prompt-grants.ts'

export interface PreparedPrompt {
  readonly parts: UserTurn['parts']
  /** What counts as words of the user: not the outputs of commands. */
  readonly ownText: string
  /** What of its front matter is not used. */
  readonly remarks: readonly string[]
}

/** Makes the message of a custom command or a skill: grants its tools, runs its commands, attaches its files. */
export async function preparePrompt(
  prompt: CustomPrompt,
  words: string,
  { agent, grants, signal, resolveMention = () => undefined }: PromptContext,
): Promise<PreparedPrompt | { readonly problem: string }> {
  const remarks = await grants.add(prompt, 'next')
  const expanded = await expandPrompt(prompt, words, agent, signal)
  if ('problem' in expanded) {
    grants.clear()
    return expanded
  }
  const [, ...attachments] = attachMentionedFiles(expanded.ownText, agent.folders[0] ?? '.', resolveMention)
  return { parts: [{ kind: 'text', text: expanded.text }, ...attachments], ownText: expanded.ownText, remarks }
}

export interface PromptContext {
  readonly agent: AgentContext
  readonly grants: PromptGrants
  readonly signal: AbortSignal
  readonly resolveMention?: (name: string) => UserTurn['parts'] | undefined
}
