import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'

/** The variables of the process. */
type Env = Readonly<Record<string, string | undefined>>

/** A path as a person writes it: `~` is their home. */
export function tilde(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** A path that a person wrote, with their home in place of `~`. */
export function untilde(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}

/** Where this person's data lie. */
export function dataFolder(env: Env = process.env): string {
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'dragoman')
}

/** Where processes that write the same files find each other's locks. */
export function writeLocksFolder(env: Env = process.env): string {
  return join(dataFolder(env), 'writes')
}

/** Where this person's settings lie. */
export function configFolder(env: Env = process.env): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'dragoman')
}

/** Where the facts stand that the model was asked to remember. */
export function memoryFile(env: Env = process.env): string {
  return join(configFolder(env), 'memory.md')
}

/** Where the launcher keeps compiled code, where it cannot be kept beside the package (`bin/dragoman`). */
export function cacheFolder(env: Env = process.env): string {
  const { XDG_CACHE_HOME: named = '' } = env
  return join(isAbsolute(named) ? named : join(homedir(), '.cache'), 'dragoman')
}

/** What is ours, and no model's to change. */
export function ownFolders(env: Env = process.env): string[] {
  return [configFolder(env), dataFolder(env), cacheFolder(env)]
}

/** Where the sessions of a project lie: a folder that a person recognises, and that no other project shares. */
export function sessionsFolder(project: string, env: Env = process.env): string {
  const name =
    basename(project)
      .replace(/[^A-Za-z0-9._-]/g, '_')
      .slice(0, 40) || 'root'
  const hash = createHash('sha256').update(project).digest('hex').slice(0, 8)
  return join(dataFolder(env), 'sessions', `${name}-${hash}`)
}
