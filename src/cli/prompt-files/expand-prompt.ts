import { readdirSync } from 'node:fs'
import type { AgentContext } from '../../agent/agent-context.ts'
import { runSingleCall } from '../../agent/calls/run-single-call.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { resolve } from 'node:path'
import { SHELL_TOOL_NAME } from '../../policy/rules/rule.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'
import type { CustomPrompt } from './custom-prompt.ts'
import type { Skill } from './skill-files.ts'
import { fillTemplate, type TemplateSegment } from './template.ts'

export interface ExpandedPrompt {
  /** The whole prompt, with the outputs of its commands. */
  readonly text: string
  /** The prompt without these outputs: only in it does an @ name a file. */
  readonly ownText: string
}

/**
 * Makes the prompt of a custom command or a skill. Its shell commands run under the policy, with questions; if one is
 * refused, there is no prompt.
 */
export async function expandPrompt(
  prompt: CustomPrompt,
  words: string,
  agent: AgentContext,
  signal: AbortSignal,
): Promise<ExpandedPrompt | { readonly problem: string }> {
  const loaded = prompt.load()
  if ('problem' in loaded) return { problem: `/${prompt.name} cannot be used: ${loaded.problem}` }
  const pieces: { readonly text: string; readonly isOwn: boolean }[] = []
  for (const segment of fillTemplate(loaded.template, loaded.syntax, words)) {
    const piece = await expandSegment(segment, agent, signal)
    if ('problem' in piece) return { problem: `/${prompt.name} was not sent: ${piece.problem}` }
    pieces.push({ text: piece.text, isOwn: segment.kind === 'text' })
  }
  const frame = isSkill(prompt) ? (text: string) => frameSkill(prompt, text) : (text: string) => text.trim()
  return {
    text: frame(pieces.map(({ text }) => text).join('')),
    ownText: pieces.map(({ text, isOwn }) => (isOwn ? text : '')).join(''),
  }
}

const MAX_FILE_BYTES = 100_000

async function expandSegment(
  segment: TemplateSegment,
  agent: AgentContext,
  signal: AbortSignal,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  switch (segment.kind) {
    case 'text':
      return segment
    case 'shell': {
      const ran = await runSingleCall(agent, SHELL_TOOL_NAME, { command: segment.command }, signal)
      return 'output' in ran
        ? { text: ran.output.trimEnd() }
        : { problem: `“${segment.command}” did not run: ${ran.problem}` }
    }
    case 'file':
      return readTemplateFile(segment.path, agent.folders[0] ?? '.')
    default:
      return segment satisfies never
  }
}

/** The author of the command chose the path: it must be in the workspace. */
function readTemplateFile(path: string, folder: string): { readonly text: string } | { readonly problem: string } {
  const full = resolve(folder, path)
  const names = tryOrUndefined(() => readdirSync(full))
  if (names && full.startsWith(folder)) return { text: names.sort().join('\n') }
  const read = readProjectText(full, { within: folder, maxBytes: MAX_FILE_BYTES })
  if ('problem' in read) return { problem: `${path} is not included: ${describeFileProblem(read)}` }
  return { text: `--- ${path} ---\n${read.text}${read.isCut ? '\n[cut here]' : ''}\n--- end of ${path} ---` }
}

function isSkill(prompt: CustomPrompt): prompt is Skill {
  return prompt.kind === 'skill'
}

/** The text of a skill as the model gets it, with what stands beside it. */
export function frameSkill(skill: Skill, text: string): string {
  const files = listSkillFiles(skill.folder)
  const listed = files.length === 0 ? '' : `\nFiles beside it: ${files.join(', ')}`
  return `Skill ${skill.name}. Paths in it are relative to its folder ${skill.folder}.${listed}\n\n${text.trim()}`
}

const MAX_LISTED_FILES = 50

function listSkillFiles(folder: string): string[] {
  const entries = tryOrUndefined(() => readdirSync(folder, { withFileTypes: true, recursive: true })) ?? []
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1))
    .filter((name) => name !== 'SKILL.md')
    .sort()
  return names.length > MAX_LISTED_FILES ? [...names.slice(0, MAX_LISTED_FILES), '…'] : names
}
