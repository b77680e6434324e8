import { createSecretFileTest } from '../../policy/path/secret-file-test.ts'
import { markAsSound } from '../../schema/normalize/sound-schemas.ts'
import type { Tool } from '../tool.ts'
import type { EditCorrector } from '../edit/correct-edit.ts'
import { createWebSearchService, type WebSearchOptions } from '../web/web-search-service.ts'
import type { AuxiliaryModel } from '../auxiliary-model.ts'
import { TOOL_SEARCH_TOOL_NAME } from '../mcp/tools/tool-search-tool.ts'
import { createActivateSkillTool, type SkillCatalog } from './activate-skill.ts'
import { readCommandOutputTool, sendCommandInputTool, stopCommandTool } from './background-commands.ts'
import { askUserTool } from './ask-user.ts'
import { createExitPlanModeTool } from './exit-plan-mode.ts'
import { globTool } from './glob.ts'
import { createWebSearchTool } from './google-web-search.ts'
import { listDirectoryTool } from './list-directory.ts'
import { readFileTool } from './read-file.ts'
import { createReadManyFilesTool } from './read-many-files.ts'
import { replaceTool } from './replace.ts'
import { createShellTool, type ShellToolOptions } from './run-shell-command.ts'
import { createSaveMemoryTool } from './save-memory.ts'
import { createSearchFileContentTool } from './search-file-content.ts'
import { createSmartEditTool } from './smart-edit.ts'
import { createTaskTool, type TaskToolOptions } from './task.ts'
import { createWebFetchTool } from './web-fetch.ts'
import { writeFileTool } from './write-file.ts'
import { writeTodosTool } from './write-todos.ts'

/** The options of `builtinTools`. */
export interface BuiltinOptions {
  /** The file that save_memory writes; the host must allow it. Without it there is no such tool. */
  readonly memory?: string
  readonly shell?: ShellToolOptions
  /** More patterns of files with secrets: searches and globs skip them; only a call that names one reads it. */
  readonly secretFiles?: readonly string[]
  /** Without it there are no web tools; without a vendor that searches, or a service, there is no search. */
  readonly web?: WebToolOptions
  readonly plan?: boolean
  /** Without skills there is no tool for them. */
  readonly skills?: SkillCatalog
  /** Tools for commands in the background; the host must be able to start them. */
  readonly background?: boolean
  /** The agents that can get tasks; without them there is no such tool. */
  readonly task?: TaskToolOptions
  /** The list of steps, and questions to the user. */
  readonly dialog?: boolean
  /** Corrects an edit that does not match; without it such an edit is refused. */
  readonly selfCorrect?: EditCorrector
}

export interface WebToolOptions {
  readonly model?: AuxiliaryModel
  readonly search?: WebSearchOptions
}

/** URLs in these files may contain credentials. A call that names such a file needs approval. */
const GIT_SETTINGS_FILES = ['.git/**/config', '.git/**/config.worktree', '.gitmodules']

/** Always in the same order, so that requests stay the same. */
export function builtinTools(options: BuiltinOptions = {}): readonly Tool[] {
  const { memory, shell, web, secretFiles, selfCorrect, plan, skills, task, background, dialog } = options
  const isSecret = createSecretFileTest([...GIT_SETTINGS_FILES, ...(secretFiles ?? [])])
  const tools = [
    listDirectoryTool,
    readFileTool,
    createSearchFileContentTool(isSecret),
    globTool,
    createSmartEditTool(selfCorrect),
    replaceTool,
    writeFileTool,
    createReadManyFilesTool(isSecret),
    createShellTool({ ...shell, ...(background && { hasBackgroundTools: true }) }),
    ...(background ? [readCommandOutputTool, sendCommandInputTool, stopCommandTool] : []),
    ...(web === undefined ? [] : createWebTools(web)),
    ...(memory === undefined ? [] : [createSaveMemoryTool(memory)]),
    ...(plan ? [createExitPlanModeTool()] : []),
    ...(skills ? [createActivateSkillTool(skills)] : []),
    ...(task === undefined ? [] : [createTaskTool(task)]),
    ...(dialog ? [writeTodosTool, askUserTool] : []),
  ]
  for (const { spec } of tools) markAsSound(spec.schema)
  return tools
}

/** All built-in tools, also those that this model or machine does not have: for their names, rules and effects only. */
export function listAllBuiltins(memory = ''): readonly Tool[] {
  const model: AuxiliaryModel = { serverTools: ['google_search'], query: () => Promise.resolve({ problem: '' }) }
  const skills: SkillCatalog = { skills: [], load: () => Promise.resolve({ problem: '' }) }
  const task: TaskToolOptions = { agents: [], run: () => Promise.resolve({ content: '' }) }
  return builtinTools({ memory, web: { model }, plan: true, skills, task, background: true, dialog: true })
}

/** The names that no tool of an MCP server can have. */
export function listBuiltinNames(): readonly string[] {
  return [...listAllBuiltins().map(({ spec }) => spec.name), TOOL_SEARCH_TOOL_NAME]
}

export function createWebTools({ model, search }: WebToolOptions): readonly Tool[] {
  if (model?.serverTools.includes('google_search')) return [createWebFetchTool(model), createWebSearchTool({ model })]
  const service = search && createWebSearchService(search)
  return [createWebFetchTool(model), ...(service && !('problem' in service) ? [createWebSearchTool({ service })] : [])]
}
