import { existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { HOME_CACHE_PATHS, MACHINE_SECRET_PATHS, HOME_SECRET_PATHS, HOME_TOOLCHAIN_PATHS } from './home-paths.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { statNoFollow } from './protect/no-follow-files.ts'
import { foldNameCase } from './protect/protected-path-rules.ts'
import { isSocketFile, listSocketFiles } from './unix-sockets.ts'
import { findToolchainFolders } from './toolchains.ts'
import { findGitWorktree } from './git-worktree.ts'

/** What a command sees of the disk. All paths are real: no link is followed when they are mounted. */
export interface SandboxLayout {
  /** Folders that appear empty; what is written there is lost. */
  readonly hidden: readonly string[]
  /** Read-only paths inside of those. */
  readonly shown: readonly string[]
  /** The workspace folders, without nested ones. */
  readonly workspace: readonly string[]
  /** The workspace, and what git and package managers need. */
  readonly writable: readonly string[]
  /** Package caches, each with a folder of ours in its place, so that additions stay in the sandbox. */
  readonly privateCaches: readonly { readonly path: string; readonly source: string }[]
  /** Keys, passwords and sockets inside of visible folders: folders appear empty, files are unreadable. */
  readonly masked: readonly MaskedPath[]
}

interface CreatedLayout extends SandboxLayout {
  /** Which files are masked: if one of them is replaced, its mask is gone. */
  readonly maskIdentity: readonly string[]
  /** Would the same be masked now? */
  isCurrent(): boolean
}

interface MaskedPath {
  readonly path: string
  readonly isFolder: boolean
}

export interface SandboxLayoutOptions {
  readonly folders: readonly string[]
  readonly home: string
  /** Our own folders with settings and sessions. */
  readonly secretFolders: readonly string[]
  /** Folders that appear empty, except for the workspace in them. */
  readonly emptyFolders?: readonly string[]
  readonly path: string
  readonly network: boolean
  /** Where package caches are kept while the network is open; without it those of the home folder are written. */
  readonly caches?: string
  /** Results of earlier layouts: a command may have changed where a link leads. */
  readonly cache: SandboxLayoutCache
}

export interface SandboxLayoutCache {
  /** Real paths outside of the workspace. */
  readonly realPaths: Map<string, string>
  /** Real paths of keys and passwords: what was masked once stays masked. */
  readonly secrets: Set<string>
  /** Installed programs, which are looked for again after a while. */
  toolchains?: { readonly key: string; readonly until: number; readonly folders: readonly string[] }
}

const TOOLCHAIN_SEARCH_MS = 5000

/**
 * A command sees the workspace, the machine without home folders, and the parts of the user's home that programs need.
 */
export function createSandboxLayout(options: SandboxLayoutOptions): CreatedLayout {
  const { folders, home, secretFolders, emptyFolders = [], path, network, caches: privateFolder, cache } = options
  const workspace = keepOutermost(folders.flatMap(resolveExisting))
  const homes = keepOutermost(['/home', '/root', home].flatMap(resolveExisting))
  const homeFolder = resolveExisting(home)[0] ?? home
  const resolveInHome = createResolver(homeFolder)
  const workspacePaths = [...folders, ...workspace]
  /** Paths in the workspace are visible anyway, and a command decides where its links lead. */
  const realOutside = (one: string, resolve = (): string[] => resolveExisting(one)): string[] => {
    if (homeFolder === '/') return []
    const real = cache.realPaths.get(one) ?? resolve()[0]
    if (real === undefined || workspacePaths.some((folder) => isInsideFolder(one, folder))) return []
    cache.realPaths.set(one, real)
    return !inHomes(real) || isInsideFolder(real, homeFolder) || isInsideFolder(one, real) ? [real] : []
  }
  const inHomes = (one: string): boolean => homes.some((other) => one !== other && isInsideFolder(one, other))
  const listInHome = (names: readonly string[]): string[] =>
    names.flatMap((name) => realOutside(join(homeFolder, name), () => resolveInHome(name)))
  const caches = listInHome(HOME_CACHE_PATHS)
  const programs = path.split(delimiter).filter((one) => isAbsolute(one))
  const findSecrets = (resolveHomePath: (name: string) => string[]): readonly string[] => {
    for (const one of HOME_SECRET_PATHS.flatMap(resolveHomePath)) cache.secrets.add(one)
    for (const one of [...MACHINE_SECRET_PATHS, ...secretFolders].flatMap(resolveExisting)) cache.secrets.add(one)
    return [...cache.secrets].filter((one) => existsSync(one))
  }
  const secrets = findSecrets(resolveInHome)
  const isSecret = (one: string): boolean =>
    secrets.some((other) => isInsideFolder(one, other) || isInsideFolder(other, one))
  const isCovered = (one: string): boolean =>
    inHomes(one) || EPHEMERAL_FOLDERS.some((other) => one !== other && isInsideFolder(one, other))
  const needed = listInHome(HOME_TOOLCHAIN_PATHS)
  const installed =
    homeFolder === '/' ? [] : findToolchains(cache, homeFolder, programs).flatMap((one) => realOutside(one))
  const shown = [
    ...needed,
    ...installed,
    ...programs.flatMap((one) => (homeFolder === '/' ? resolveExisting(one) : realOutside(one))),
  ].filter((one) => isCovered(one) && one !== homeFolder && !isSecret(one))
  // With the network open, package managers store what they fetch. It must not be used outside of the sandbox later.
  const isPrivate = network && privateFolder !== undefined
  const git = workspace.flatMap((folder) => findGitWorktree(folder) ?? [])
  const gitFolders = git
    .flatMap(({ gitFolder: tree, writableFolders }) => [tree, ...writableFolders])
    .flatMap(resolveExisting)
  const writable = [...workspace, ...gitFolders, ...(network && !isPrivate ? caches : [])]
  const visible = [...shown, ...workspace, ...(isPrivate ? [] : caches)]
  const isVisible = (one: string): boolean => !isCovered(one) || visible.some((other) => isInsideFolder(one, other))
  // A workspace is shown whatever its name, and hidden paths need no mask.
  const listMasked = (paths: readonly string[]): readonly MaskedPath[] => [
    ...keepOutermost(paths)
      .filter((one) => !workspace.some((folder) => isInsideFolder(folder, one)))
      .filter(isVisible)
      .map((one) => ({ path: one, isFolder: statSync(one).isDirectory() })),
    ...listSocketFiles()
      .filter((one) => isVisible(one) && isSocketFile(one))
      .map((one) => ({ path: one, isFolder: false })),
  ]
  const masked = listMasked(secrets)
  const maskIdentity = identifyMasks(masked)
  return {
    hidden: keepOutermost([...homes, ...emptyFolders.flatMap(resolveExisting)]),
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
    masked,
    maskIdentity,
    isCurrent() {
      const now = tryOrUndefined(() => identifyMasks(listMasked(findSecrets(createResolver(homeFolder)))))
      return now !== undefined && isDeepStrictEqual(now, maskIdentity)
    },
  }
}

function identifyMasks(masked: readonly MaskedPath[]): readonly string[] {
  return masked.map(({ path }) => `${path} ${formatIdentity(statNoFollow(path))}`)
}

/** Changes when a path is replaced. */
export function formatIdentity(stats: Stats | undefined): string {
  return stats ? `${stats.dev}:${stats.ino}` : ''
}

function findToolchains(cache: SandboxLayoutCache, home: string, programs: readonly string[]): readonly string[] {
  const key = JSON.stringify([home, programs])
  const { toolchains } = cache
  if (toolchains?.key === key && Date.now() < toolchains.until) return toolchains.folders
  const folders = findToolchainFolders(home, programs, process.env)
  cache.toolchains = { key, until: Date.now() + TOOLCHAIN_SEARCH_MS, folders }
  return folders
}

/** A command has its own versions of these, so what programs need of them is shown again. */
export const EPHEMERAL_FOLDERS = ['/tmp', '/var/tmp', '/run']

/** Without nested paths: a command that ran before could have replaced those by links. */
function keepOutermost(paths: readonly string[]): string[] {
  const all = [...new Set(paths)].sort()
  return all.filter((path) => !all.some((other) => other !== path && isInsideFolder(path, other)))
}

/** For names of files below a folder, most of which do not exist: the folder is listed once, if it is not too long. */
function createResolver(folder: string): (name: string) => string[] {
  const isShort = (tryOrUndefined(() => statSync(folder).size) ?? Infinity) <= MAX_LISTED_BYTES
  const names = isShort ? tryOrUndefined(() => new Set(readdirSync(folder).map(foldNameCase))) : undefined
  const mayExist = (name: string): boolean => !names || names.has(foldNameCase(name.split('/', 1)[0] ?? ''))
  return (name) => (mayExist(name) ? resolveExisting(join(folder, name)) : [])
}

const MAX_LISTED_BYTES = 64 * 1024

function resolveExisting(path: string): string[] {
  try {
    // Most of these paths do not exist, and an error costs more than this check.
    return existsSync(path) ? [realpathSync.native(path)] : []
  } catch {
    return []
  }
}
