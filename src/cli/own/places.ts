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
  return join(placeIn(env, 'XDG_DATA_HOME', '.local/share'), 'dragoman')
}

/** Where processes that write the same files find each other's locks. */
export function writeLocksFolder(env: Env = process.env): string {
  return join(dataFolder(env), 'writes')
}

/** Where this person's settings lie. */
export function configFolder(env: Env = process.env): string {
  return join(placeIn(env, 'XDG_CONFIG_HOME', '.config'), 'dragoman')
}

/** Where the facts stand that the model was asked to remember. */
export function memoryFile(env: Env = process.env): string {
  return join(configFolder(env), 'memory.md')
}

/** Where the launcher keeps compiled code, where it cannot be kept beside the package (`bin/dragoman`). */
export function cacheFolder(env: Env = process.env): string {
  return join(placeIn(env, 'XDG_CACHE_HOME', '.cache'), 'dragoman')
}

/** A relative path would mean another place in every folder: nothing of ours is ever written into a project. */
function placeIn(env: Env, variable: string, usual: string): string {
  const named = env[variable] ?? ''
  return isAbsolute(named) ? named : join(homedir(), usual)
}

/** An empty or relative HOME counts as none: the system knows this person's home then. */
export function settleHome(): void {
  const { HOME } = process.env
  if (HOME !== undefined && !isAbsolute(HOME)) delete process.env['HOME']
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
