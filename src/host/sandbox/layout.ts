import { existsSync, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isBelow } from './below.ts'
import { CACHES, MACHINE_SECRETS, SECRETS, TOOLCHAINS } from './home.ts'
import { isSocket, socketFiles } from './sockets.ts'
import { toolchainFolders } from './toolchains.ts'
import { worktreeOf } from './worktree.ts'

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
  /** Caches of packages, each with a folder of ours that takes its place, so that what is added to it stays in the sandbox. */
  readonly privateCaches: readonly { readonly path: string; readonly source: string }[]
  /** Keys, passwords and sockets inside of what is shown: folders appear empty, files cannot be read. */
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
  /** Where caches of packages are, while the network is open; without it those of the home folder are written. */
  readonly caches?: string
  /** What earlier layouts found: a command may have changed where a link leads. */
  readonly memory: LayoutMemory
}

/** What is kept from one layout to the next. */
export interface LayoutMemory {
  /** Where paths outside of the workspace lead. */
  readonly real: Map<string, string>
  /** Keys and passwords, by their real paths: what was masked once stays masked. */
  readonly secrets: Set<string>
}

/** Settles what a command sees: the workspace, the machine without its homes, and of the person's home what programs need. */
export function layoutOf(options: LayoutOptions): Layout {
  const { folders, home, secret, path, network, caches: privateFolder, memory } = options
  const workspace = outermost(folders.flatMap(realOf))
  const homes = outermost(['/home', '/root', home].flatMap(realOf))
  const own = realOf(home)[0] ?? home
  /** What lies in the workspace is seen anyway, and a command decides where its links lead. */
  const realOutside = (one: string): string[] => {
    if (own === '/' || [...folders, ...workspace].some((folder) => isBelow(one, folder))) return []
    const real = memory.real.get(one) ?? realOf(one)[0]
    if (real === undefined) return []
    memory.real.set(one, real)
    return !inHomes(real) || isBelow(real, own) || isBelow(one, real) ? [real] : []
  }
  const inHomes = (one: string): boolean => homes.some((other) => one !== other && isBelow(one, other))
  const caches = CACHES.map((name) => join(own, name)).flatMap(realOutside)
  const programs = path.split(delimiter).filter((one) => isAbsolute(one))
  for (const one of [...SECRETS.map((name) => join(own, name)), ...MACHINE_SECRETS, ...secret].flatMap(realOf))
    memory.secrets.add(one)
  const secrets = [...memory.secrets].filter((one) => existsSync(one))
  const isSecret = (one: string): boolean => secrets.some((other) => isBelow(one, other) || isBelow(other, one))
  const isCovered = (one: string): boolean =>
    inHomes(one) || EPHEMERAL.some((other) => one !== other && isBelow(one, other))
  const needed = TOOLCHAINS.map((name) => join(own, name)).flatMap(realOutside)
  const installed = own === '/' ? [] : toolchainFolders(own, programs, process.env).flatMap(realOutside)
  const shown = [
    ...needed,
    ...installed,
    ...programs.flatMap((one) => (own === '/' ? realOf(one) : realOutside(one))),
  ].filter((one) => isCovered(one) && one !== own && !isSecret(one))
  // With the network open a package manager is at work, which wants to keep what it fetches. What runs outside later must
  // not come from there.
  const isPrivate = network && privateFolder !== undefined
  const git = workspace.flatMap((folder) => worktreeOf(folder) ?? [])
  const committed = git.flatMap(({ own: tree, shared }) => [tree, ...shared]).flatMap(realOf)
  const writable = [...workspace, ...committed, ...(network && !isPrivate ? caches : [])]
  const seen = [...shown, ...workspace, ...(isPrivate ? [] : caches)]
  const isSeen = (one: string): boolean => !isCovered(one) || seen.some((other) => isBelow(one, other))
  const sockets = socketFiles().filter((one) => isSeen(one) && isSocket(one))
  return {
    hidden: homes,
    shown: outermost([...shown, ...git.map(({ common }) => common), ...(network ? [] : caches)]),
    workspace,
    writable: outermost(writable),
    privateCaches: isPrivate
      ? outermost(caches)
          .filter((one) => !workspace.some((folder) => isBelow(one, folder)))
          .map((one) => ({ path: one, source: join(privateFolder, one.slice(own.length + 1).replaceAll('/', '+')) }))
      : [],
    // What the person chose to work in is shown, whatever it is called; and what is hidden needs no mask.
    masked: [
      ...outermost(secrets)
        .filter((one) => !workspace.some((folder) => isBelow(folder, one)))
        .filter(isSeen)
        .map((one) => ({ path: one, isFolder: statSync(one).isDirectory() })),
      ...sockets.map((one) => ({ path: one, isFolder: false })),
    ],
  }
}

/** A command has these to itself, so what programs need of them is shown as well. */
export const EPHEMERAL = ['/tmp', '/var/tmp', '/run']

/** Without those that lie inside others: only they could be exchanged for a link by a command that ran before. */
function outermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)].sort()
  return all.filter((path) => !all.some((other) => other !== path && isBelow(path, other)))
}

/** What is not there needs neither to be shown nor to be hidden. */
function realOf(path: string): string[] {
  try {
    // Most of what is looked for is not there, and an error costs more than the question.
    return existsSync(path) ? [realpathSync.native(path)] : []
  } catch {
    return []
  }
}
