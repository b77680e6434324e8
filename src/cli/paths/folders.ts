import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { sha256Hex } from '../../host/files/sha256.ts'

/** The variables of the process. */
type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** A path as a person writes it: `~` is their home. */
export function abbreviateHome(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** A path that a person wrote, with their home in place of `~`. */
export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}

/** Where this person's data lie. */
export function dataFolderPath(env: EnvironmentVariables = process.env): string {
  return join(resolveXdgFolder(env, 'XDG_DATA_HOME', '.local/share'), 'dragoman')
}

/** Where processes that write the same files find each other's locks. */
export function writeLocksFolderPath(env: EnvironmentVariables = process.env): string {
  return join(dataFolderPath(env), 'writes')
}

/** Where this person's settings lie. */
export function configFolderPath(env: EnvironmentVariables = process.env): string {
  return join(resolveXdgFolder(env, 'XDG_CONFIG_HOME', '.config'), 'dragoman')
}

/** Where the facts stand that the model was asked to remember. */
export function memoryFilePath(env: EnvironmentVariables = process.env): string {
  return join(configFolderPath(env), 'memory.md')
}

/** Where the launcher keeps compiled code, where it cannot be kept beside the package (`bin/dragoman`). */
export function cacheFolderPath(env: EnvironmentVariables = process.env): string {
  return join(resolveXdgFolder(env, 'XDG_CACHE_HOME', '.cache'), 'dragoman')
}

/** A relative path would mean another place in every folder: nothing of ours is ever written into a project. */
function resolveXdgFolder(env: EnvironmentVariables, variable: string, defaultPath: string): string {
  const configured = env[variable] ?? ''
  return isAbsolute(configured) ? configured : join(homedir(), defaultPath)
}

/** An empty or relative HOME counts as none: the system knows this person's home then. */
export function dropInvalidHome(): void {
  const { HOME } = process.env
  if (HOME !== undefined && !isAbsolute(HOME)) delete process.env['HOME']
}

/** What is ours, and no model's to change. */
export function listPrivateFolders(env: EnvironmentVariables = process.env): string[] {
  return [configFolderPath(env), dataFolderPath(env), cacheFolderPath(env)]
}

/** Where the sessions of a project lie: a folder that a person recognises, and that no other project shares. */
export function sessionsFolderPath(project: string, env: EnvironmentVariables = process.env): string {
  const name =
    basename(project)
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(0, 40) || 'root'
  const hash = sha256Hex(project).slice(0, 8)
  return join(dataFolderPath(env), 'sessions', `${name}-${hash}`)
}
