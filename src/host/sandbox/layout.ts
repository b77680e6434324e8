import { realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isBelow } from './below.ts'
import { worktreeOf } from './worktree.ts'
import { CACHES, MACHINE_SECRETS, SECRETS, TOOLCHAINS } from './home.ts'
import { toolchainFolders } from './toolchains.ts'

/** What a command sees of the disk. All paths are real: no link is followed when they are mounted. */
export interface Layout {
  /** Folders that appear empty, and where what is written is lost. */
  readonly hidden: readonly string[]
  /** What is shown again inside of those, only to be read. */
  readonly shown: readonly string[]
  /** The folders of the workspace, without those that lie inside others. */
  readonly workspace: readonly string[]
  /** Folders to write in: those, and what git and package managers need. */
  readonly writable: readonly string[]
  /** Keys and passwords inside of what is shown: folders appear empty, files cannot be read. */
  readonly masked: readonly { readonly path: string; readonly isFolder: boolean }[]
}

/** From where a layout is made. */
export interface LayoutOptions {
  /** The folders of the workspace. */
  readonly folders: readonly string[]
  readonly home: string
  /** Folders of ours with settings and sessions. */
  readonly secret: readonly string[]
  /** The folders in which programs are looked for. */
  readonly path: string
  readonly network: boolean
}

/** Settles what a command sees: the workspace, the machine without its homes, and of the person's home what programs need. */
export function layoutOf({ folders, home, secret, path, network }: LayoutOptions): Layout {
  const workspace = outermost(folders.flatMap(realOf))
  const homes = outermost(['/home', '/root', home].flatMap(realOf))
  const own = realOf(home)[0] ?? home
  const needed = own === '/' ? [] : TOOLCHAINS.map((name) => join(own, name))
  const caches = own === '/' ? [] : CACHES.map((name) => join(own, name)).flatMap(realOf)
  const programs = path.split(delimiter).filter((one) => isAbsolute(one))
  const secrets = [...SECRETS.map((name) => join(own, name)), ...MACHINE_SECRETS, ...secret].flatMap(realOf)
  const isSecret = (one: string): boolean => secrets.some((other) => isBelow(one, other) || isBelow(other, one))
  const inHomes = (one: string): boolean => homes.some((other) => one !== other && isBelow(one, other))
  const isCovered = (one: string): boolean =>
    inHomes(one) || EPHEMERAL.some((other) => one !== other && isBelow(one, other))
  const installed = own === '/' ? [] : toolchainFolders(own, programs, process.env)
  const shown = [...needed, ...programs, ...installed]
    .flatMap(realOf)
    .filter((one) => isCovered(one) && one !== own && !isSecret(one))
  // With the network open a package manager is at work, which wants to keep what it fetches.
  const git = workspace.flatMap((folder) => worktreeOf(folder) ?? [])
  const committed = git.flatMap(({ own: tree, shared }) => [tree, ...shared]).flatMap(realOf)
  const writable = [...workspace, ...committed, ...(network ? caches : [])]
  const seen = [...shown, ...workspace, ...caches]
  return {
    hidden: homes,
    shown: outermost([...shown, ...git.map(({ common }) => common), ...(network ? [] : caches)]),
    workspace,
    writable: outermost(writable),
    // What the person chose to work in is shown, whatever it is called; and what is hidden needs no mask.
    masked: outermost(secrets)
      .filter((one) => !workspace.some((folder) => isBelow(folder, one)))
      .filter((one) => !inHomes(one) || seen.some((other) => isBelow(one, other)))
      .map((one) => ({ path: one, isFolder: statSync(one).isDirectory() })),
  }
}

/** A command has these to itself, so what programs need of them is shown as well. */
const EPHEMERAL = ['/tmp', '/var/tmp', '/run']

/** Without those that lie inside others: only they could be exchanged for a link by a command that ran before. */
function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)].sort()
  return all.filter((path) => !all.some((other) => other !== path && isBelow(path, other)))
}

/** What is not there needs neither to be shown nor to be hidden. */
function realOf(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
