import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { sha256Hex } from '../../host/files/sha256.ts'
import { getCacheFolder, getConfigFolder, getDataFolder } from '../../host/files/user-folders.ts'

export { getConfigFolder, getDataFolder, realPathOrSelf } from '../../host/files/user-folders.ts'

/** A path with `~` for the home folder. */
export function abbreviateHome(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}

/** Locks between processes that write the same files. */
export function getWriteLocksFolder(): string {
  return join(getDataFolder(), 'writes')
}

export function getMemoryFilePath(): string {
  return join(getConfigFolder(), 'memory.md')
}

/** An empty or relative HOME is removed, so that the home folder of the system's user database is used. */
export function removeInvalidHomeVariable(): void {
  const { HOME } = process.env
  if (HOME !== undefined && !isAbsolute(HOME)) delete process.env['HOME']
}

/** The folders that a model must not change. */
export function listPrivateFolders(): string[] {
  return [getConfigFolder(), getDataFolder(), getCacheFolder()]
}

/** The folder of a project's sessions: recognisable by name, and unique by hash. */
export function getSessionsFolder(project: string, env = process.env): string {
  const name = basename(project).replace(/[^A-Za-z0-9._-]/g, '_')
  return join(getDataFolder(env), 'sessions', `${name.slice(0, 40) || 'root'}-${sha256Hex(project).slice(0, 8)}`)
}
