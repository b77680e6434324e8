import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Hooks } from '../../agent/hooks/hooks.ts'
import { isTrusted, keepHookOutputs } from '../config/folder-trust.ts'
import { listProjectFiles } from '../config/project-files.ts'
import type { Settings } from '../config/read-settings.ts'
import type { CommandHookOptions } from './command-hooks.ts'
import type { CommandHook } from './hook-definition.ts'

/** The hooks that are commands; without any, nothing more is loaded. */
export async function openCommandHooks(
  settings: Settings,
  folder: string,
  options: Omit<CommandHookOptions, 'folder' | 'isProjectTrusted' | 'keepOutputs'>,
): Promise<{ readonly hooks?: Hooks; readonly list: readonly CommandHook[]; readonly notices: readonly string[] }> {
  const { own, project } = settings.hooks
  if (own.length === 0 && project === undefined && !hasHookFiles(folder)) return { list: [], notices: [] }
  const { loadHooks } = await import('./load-hooks.ts')
  const { hooks: list, problems } = loadHooks(folder, settings.hooks)
  const notices = problems.map((problem) => `A hook is not used: ${problem}.`)
  if (list.length === 0) return { list, notices }
  const { createCommandHooks } = await import('./command-hooks.ts')
  const isProjectTrusted = () => isTrusted(folder, 'hooks') && (project === undefined || isTrusted(folder, 'settings'))
  const keepOutputs = () => {
    keepHookOutputs(folder, 'hooks')
    if (project !== undefined) keepHookOutputs(folder, 'settings')
  }
  return { list, notices, hooks: createCommandHooks(list, { ...options, folder, isProjectTrusted, keepOutputs }) }
}

function hasHookFiles(folder: string): boolean {
  const files = ['.claude/settings.json', '.gemini/settings.json'].map((name) => join(homedir(), name))
  return files.some((file) => existsSync(file)) || listProjectFiles(folder, 'hooks').length > 0
}
