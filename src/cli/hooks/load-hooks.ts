import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject, type Json } from '../../model/json.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { listTrustedFiles, readTrustedText } from '../config/folder-trust.ts'
import { removeComments } from '../config/remove-comments.ts'
import type { Settings } from '../config/read-settings.ts'
import { type HookSource, type ParsedHooks, parseHooks } from './hook-definition.ts'

/**
 * The hooks of our settings, of those of Claude Code, Gemini CLI and Codex of the user, and of those of a project whose folder is
 * trusted. Hooks of a project run in the sandbox, unless the user's settings trust them.
 */
export function loadHooks(folder: string, { own, project, isTrusted }: Settings['hooks']): ParsedHooks {
  const sources = [
    ...own.map((hooks) =>
      parseHooks(hooks, { source: 'your settings', dialect: 'claude', isOfProject: false, isTrusted: true }),
    ),
    parseHooks(project, { source: '.dragoman/config.json', dialect: 'claude', isOfProject: true, isTrusted }),
    ...USER_FILES.map(({ path, dialect }) => readUserFile(join(homedir(), path), dialect)),
    ...readProjectFiles(folder, isTrusted),
  ]
  return {
    hooks: sources.flatMap(({ hooks }) => hooks),
    problems: sources.flatMap(({ problems }) => problems),
  }
}

const USER_FILES = [
  { path: '.claude/settings.json', dialect: 'claude' },
  { path: '.gemini/settings.json', dialect: 'gemini' },
  // Codex has the events and the JSON of Claude Code.
  { path: '.codex/hooks.json', dialect: 'claude' },
] as const

const PROJECT_FILES: Readonly<Record<string, HookSource['dialect']>> = {
  '.dragoman/hooks.json': 'claude',
  '.claude/settings.json': 'claude',
  '.claude/settings.local.json': 'claude',
  '.gemini/settings.json': 'gemini',
  '.codex/hooks.json': 'claude',
}

function readUserFile(path: string, dialect: HookSource['dialect']): ParsedHooks {
  const text = tryOrUndefined(() => readFileSync(path, 'utf8'))
  return text === undefined
    ? NO_HOOKS
    : parseSettings(text, { source: path, dialect, isOfProject: false, isTrusted: true })
}

function readProjectFiles(folder: string, isTrusted: boolean): ParsedHooks[] {
  return listTrustedFiles(folder, 'hooks').flatMap((path) => {
    const dialect = Object.hasOwn(PROJECT_FILES, path) ? PROJECT_FILES[path] : undefined
    if (dialect === undefined) return []
    const read = readTrustedText(folder, path, MAX_SETTINGS_BYTES)
    if ('problem' in read) return []
    return [parseSettings(read.text, { source: path, dialect, isOfProject: true, isTrusted })]
  })
}

const NO_HOOKS: ParsedHooks = { hooks: [], problems: [] }
const MAX_SETTINGS_BYTES = 2 ** 20

/** Settings of others: what else they say is not ours, and a file that is no JSON has no hooks. */
function parseSettings(text: string, from: HookSource): ParsedHooks {
  const json = tryOrUndefined(() => JSON.parse(removeComments(text)) as Json)
  if (!isObject(json)) return { hooks: [], problems: [`${from.source} is not valid JSON, so its hooks do not run`] }
  if (json['disableAllHooks'] === true) return NO_HOOKS
  const options = isObject(json['hooksConfig']) ? json['hooksConfig'] : {}
  if (options['enabled'] === false) return NO_HOOKS
  const { hooks, problems } = parseHooks(json['hooks'], from)
  return { hooks, problems: problems.map((problem) => `${from.source}: ${problem}`) }
}
