import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { type AgentDefinition, BUILTIN_AGENTS } from '../../agent/subagents/agent-definition.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { listTrustedFiles, readTrustedText } from '../config/folder-trust.ts'
import { parseAgentFile } from '../prompt-files/agent-file.ts'
import { getConfigFolder } from '../paths/folders.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'

/** The agents that can get tasks here, and what is wrong with the definitions of others. */
export interface AgentDefinitions {
  readonly agents: readonly AgentDefinition[]
  readonly notices: readonly string[]
}

/**
 * The agents of a project whose folder is trusted, then those of the user, then the built-in ones; of several with one name, the
 * first counts.
 */
export function loadAgentDefinitions(folder: string): AgentDefinitions {
  const notices: string[] = []
  const found: AgentDefinition[] = []
  const add = (
    source: string,
    content: ReturnType<typeof readProjectText> | { readonly problem: 'untrusted' },
  ): void => {
    const problem = (why: string) => void notices.push(`The agent in ${source} is ignored: ${why}.`)
    if ('problem' in content)
      return content.problem === 'untrusted'
        ? undefined
        : problem(describeFileProblem({ ...content, problem: content.problem }))
    if (content.isCut) return problem('the file is too large')
    const parsed = parseAgentFile(content.text, basename(source))
    if ('problem' in parsed) return problem(parsed.problem)
    const { definition, ignored } = parsed
    if (found.some(({ name }) => name === definition.name)) return undefined
    found.push({ ...definition, source })
    if (ignored.length > 0)
      notices.push(`The agent ${definition.name} (${source}) has fields that are not used here: ${ignored.join(', ')}.`)
  }
  for (const path of listTrustedFiles(folder, 'agents'))
    if (/\.md$/i.test(path)) add(path, readTrustedText(folder, path, MAX_DEFINITION_BYTES))
  for (const path of listUserFiles()) add(path, readProjectText(path, { maxBytes: MAX_DEFINITION_BYTES }))
  const others = BUILTIN_AGENTS.filter(({ name }) => !found.some((one) => one.name === name))
  return { agents: [...others, ...found], notices }
}

const MAX_DEFINITION_BYTES = 200_000

function listUserFiles(): string[] {
  const home = homedir()
  const folders = [join(getConfigFolder(), 'agents'), ...USER_FOLDERS.map((name) => join(home, name, 'agents'))]
  return folders.flatMap((folder) => {
    const names = tryOrUndefined(() => readdirSync(folder)) ?? []
    return names
      .filter((name) => /\.md$/i.test(name))
      .toSorted()
      .map((name) => join(folder, name))
  })
}

const USER_FOLDERS = ['.agents', '.claude', '.gemini']
