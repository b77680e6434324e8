import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { sha256Hex } from '../../host/files/sha256.ts'

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** A path with `~` for the home folder. */
export function abbreviateHome(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}

export function getDataFolder(env: EnvironmentVariables = process.env): string {
  return join(resolveXdgFolder(env, 'XDG_DATA_HOME', '.local/share'), 'dragoman')
}

/** The path with links followed; the path itself if it does not exist. */
export function realPathOrSelf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Locks between processes that write the same files. */
export function getWriteLocksFolder(env: EnvironmentVariables = process.env): string {
  return join(getDataFolder(env), 'writes')
}

export function getConfigFolder(env: EnvironmentVariables = process.env): string {
  return join(resolveXdgFolder(env, 'XDG_CONFIG_HOME', '.config'), 'dragoman')
}

export function getMemoryFilePath(env: EnvironmentVariables = process.env): string {
  return join(getConfigFolder(env), 'memory.md')
}

/** Compiled code, where it cannot be stored beside the package (`bin/dragoman`). */
function cacheFolderPath(env: EnvironmentVariables = process.env): string {
  return join(resolveXdgFolder(env, 'XDG_CACHE_HOME', '.cache'), 'dragoman')
}

/** A relative path is ignored: it would mean another folder in every project. */
function resolveXdgFolder(env: EnvironmentVariables, variable: string, defaultPath: string): string {
  const configured = env[variable] ?? ''
  return isAbsolute(configured) ? configured : join(homedir(), defaultPath)
}

/** An empty or relative HOME is removed, so that the home folder of the system's user database is used. */
export function removeInvalidHomeVariable(): void {
  const { HOME } = process.env
  if (HOME !== undefined && !isAbsolute(HOME)) delete process.env['HOME']
}

/** The folders that a model must not change. */
export function listPrivateFolders(env: EnvironmentVariables = process.env): string[] {
  return [getConfigFolder(env), getDataFolder(env), cacheFolderPath(env)]
}

/** The folder of a project's sessions: recognisable by name, and unique by hash. */
export function getSessionsFolder(project: string, env: EnvironmentVariables = process.env): string {
  const name =
    basename(project)
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(0, 40) || 'root'
  const hash = sha256Hex(project).slice(0, 8)
  return join(getDataFolder(env), 'sessions', `${name}-${hash}`)
}
