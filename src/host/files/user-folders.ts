import { realpathSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export function getDataFolder(env = process.env): string {
  return join(resolveXdgFolder('XDG_DATA_HOME', '.local/share', env), 'dragoman')
}

export function getConfigFolder(): string {
  return join(resolveXdgFolder('XDG_CONFIG_HOME', '.config'), 'dragoman')
}

/** Compiled code, where it cannot be stored beside the package (`bin/dragoman`). */
export function getCacheFolder(): string {
  return join(resolveXdgFolder('XDG_CACHE_HOME', '.cache'), 'dragoman')
}

/** A relative path is ignored: it would mean another folder in every project. */
function resolveXdgFolder(variable: string, defaultPath: string, env = process.env): string {
  const configured = env[variable] ?? ''
  return isAbsolute(configured) ? configured : join(getHomeFolder(), defaultPath)
}

/** An empty or relative HOME would mean a folder of the project, so the one in the system's user database is used. */
export function getHomeFolder(): string {
  const home = homedir()
  return isAbsolute(home) ? home : (tryOrUndefined(() => userInfo().homedir) ?? '/')
}

/** The path with links followed; the path itself if it does not exist. */
export function realPathOrSelf(path: string): string {
  return tryOrUndefined(() => realpathSync(path)) ?? path
}
