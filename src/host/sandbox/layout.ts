import { existsSync, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { HOME_CACHE_PATHS, MACHINE_SECRET_PATHS, HOME_SECRET_PATHS, HOME_TOOLCHAIN_PATHS } from './home-paths.ts'
import { isSocketFile, listSocketFiles } from './unix-sockets.ts'
import { findToolchainFolders } from './toolchains.ts'
import { findGitWorktree } from './git-worktree.ts'

/** What a command sees of the disk. All paths are real: no link is followed when they are mounted. */
export interface SandboxLayout {
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
export interface SandboxLayoutOptions {
  /** The folders of the workspace. */
  readonly folders: readonly string[]
  readonly home: string
  /** Folders of ours with settings and sessions. */
  readonly secretFolders: readonly string[]
  /** The folders in which programs are looked for. */
  readonly path: string
  readonly network: boolean
  /** Where caches of packages are, while the network is open; without it those of the home folder are written. */
  readonly caches?: string
  /** What earlier layouts found: a command may have changed where a link leads. */
  readonly cache: SandboxLayoutCache
}

/** What is kept from one layout to the next. */
export interface SandboxLayoutCache {
  /** Where paths outside of the workspace lead. */
  readonly realPaths: Map<string, string>
  /** Keys and passwords, by their real paths: what was masked once stays masked. */
  readonly secrets: Set<string>
}

/** Settles what a command sees: the workspace, the machine without its homes, and of the person's home what programs need. */
export function createSandboxLayout(options: SandboxLayoutOptions): SandboxLayout {
  const { folders, home, secretFolders, path, network, caches: privateFolder, cache } = options
  const workspace = keepOutermost(folders.flatMap(resolveExisting))
  const homes = keepOutermost(['/home', '/root', home].flatMap(resolveExisting))
  const homeFolder = resolveExisting(home)[0] ?? home
  /** What lies in the workspace is seen anyway, and a command decides where its links lead. */
  const realOutside = (one: string): string[] => {
    if (homeFolder === '/' || [...folders, ...workspace].some((folder) => isInsideFolder(one, folder))) return []
    const real = cache.realPaths.get(one) ?? resolveExisting(one)[0]
    if (real === undefined) return []
    cache.realPaths.set(one, real)
    return !inHomes(real) || isInsideFolder(real, homeFolder) || isInsideFolder(one, real) ? [real] : []
  }
  const inHomes = (one: string): boolean => homes.some((other) => one !== other && isInsideFolder(one, other))
  const caches = HOME_CACHE_PATHS.map((name) => join(homeFolder, name)).flatMap(realOutside)
  const programs = path.split(delimiter).filter((one) => isAbsolute(one))
  for (const one of [
    ...HOME_SECRET_PATHS.map((name) => join(homeFolder, name)),
    ...MACHINE_SECRET_PATHS,
    ...secretFolders,
  ].flatMap(resolveExisting))
    cache.secrets.add(one)
  const secrets = [...cache.secrets].filter((one) => existsSync(one))
  const isSecret = (one: string): boolean =>
    secrets.some((other) => isInsideFolder(one, other) || isInsideFolder(other, one))
  const isCovered = (one: string): boolean =>
    inHomes(one) || EPHEMERAL_FOLDERS.some((other) => one !== other && isInsideFolder(one, other))
  const needed = HOME_TOOLCHAIN_PATHS.map((name) => join(homeFolder, name)).flatMap(realOutside)
  const installed =
    homeFolder === '/' ? [] : findToolchainFolders(homeFolder, programs, process.env).flatMap(realOutside)
  const shown = [
    ...needed,
    ...installed,
    ...programs.flatMap((one) => (homeFolder === '/' ? resolveExisting(one) : realOutside(one))),
  ].filter((one) => isCovered(one) && one !== homeFolder && !isSecret(one))
  // With the network open a package manager is at work, which wants to keep what it fetches. What runs outside later must
  // not come from there.
  const isPrivate = network && privateFolder !== undefined
  const git = workspace.flatMap((folder) => findGitWorktree(folder) ?? [])
  const gitFolders = git
    .flatMap(({ gitFolder: tree, writableFolders }) => [tree, ...writableFolders])
    .flatMap(resolveExisting)
  const writable = [...workspace, ...gitFolders, ...(network && !isPrivate ? caches : [])]
  const visible = [...shown, ...workspace, ...(isPrivate ? [] : caches)]
  const isVisible = (one: string): boolean => !isCovered(one) || visible.some((other) => isInsideFolder(one, other))
  const sockets = listSocketFiles().filter((one) => isVisible(one) && isSocketFile(one))
  return {
    hidden: homes,
    shown: keepOutermost([...shown, ...git.map(({ commonFolder }) => commonFolder), ...(network ? [] : caches)]),
    workspace,
    writable: keepOutermost(writable),
    privateCaches: isPrivate
      ? keepOutermost(caches)
          .filter((one) => !workspace.some((folder) => isInsideFolder(one, folder)))
          .map((one) => ({
            path: one,
            source: join(privateFolder, one.slice(homeFolder.length + 1).replaceAll('/', '+')),
          }))
      : [],
    // What the person chose to work in is shown, whatever it is called; and what is hidden needs no mask.
    masked: [
      ...keepOutermost(secrets)
        .filter((one) => !workspace.some((folder) => isInsideFolder(folder, one)))
        .filter(isVisible)
        .map((one) => ({ path: one, isFolder: statSync(one).isDirectory() })),
      ...sockets.map((one) => ({ path: one, isFolder: false })),
    ],
  }
}

/** A command has these to itself, so what programs need of them is shown as well. */
export const EPHEMERAL_FOLDERS = ['/tmp', '/var/tmp', '/run']

/** Without those that lie inside others: only they could be exchanged for a link by a command that ran before. */
function keepOutermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)].sort()
  return all.filter((path) => !all.some((other) => other !== path && isInsideFolder(path, other)))
}

/** What is not there needs neither to be shown nor to be hidden. */
function resolveExisting(path: string): string[] {
  try {
    // Most of what is looked for is not there, and an error costs more than the question.
    return existsSync(path) ? [realpathSync.native(path)] : []
  } catch {
    return []
  }
}
