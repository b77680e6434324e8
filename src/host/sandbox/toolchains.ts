import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { findRealPath } from '../files/resolve-path.ts'
import { HOME_CACHE_PATHS, HOME_SECRET_PATHS, HOME_TOOLCHAIN_PATHS } from './home-paths.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { splitWords } from '../../model/text.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export const TOOLCHAIN_VARIABLES: readonly string[] = splitWords(`
  ASDF_DATA_DIR ASDF_DIR BUN_INSTALL CONDA_DEFAULT_ENV CONDA_EXE CONDA_PREFIX DENO_INSTALL DOTNET_ROOT FLUTTER_ROOT
  FNM_DIR FNM_MULTISHELL_PATH GOPATH GOROOT GRAALVM_HOME JAVA_HOME MAMBA_ROOT_PREFIX MISE_DATA_DIR NVM_BIN NVM_DIR
  PNPM_HOME PYENV_ROOT PYENV_VERSION RBENV_ROOT RUSTUP_HOME RUSTUP_TOOLCHAIN SDKMAN_CANDIDATES_DIR SDKMAN_DIR
  VIRTUAL_ENV VOLTA_HOME
`)

/**
 * Folders in a home with installed programs and libraries: those on `PATH`, the targets of links there, and those that
 * variables name. Folders that contain other things as well, such as `~/.local`, are not included.
 */
export function findToolchainFolders(
  home: string,
  path: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const named = TOOLCHAIN_VARIABLES.flatMap((name) => env[name] ?? []).filter(isAbsolute)
  const linked = path.filter((folder) => findHome(folder, home) !== undefined).flatMap(listLinkTargets)
  return [
    ...[...path, ...linked.map(dirname)].flatMap((folder) => findInstallations(folder, home)),
    ...linked.filter((file) => findHome(file, home) !== undefined),
    ...named.filter((folder) => isInstallation(folder, home)),
  ]
}

/** The folder above a `bin`, if it is an installation; for a conda environment also its base. */
function findInstallations(bin: string, home: string): string[] {
  const prefix = dirname(bin)
  if (!isInstallation(prefix, home)) return []
  const environments = dirname(prefix)
  const base = basename(environments) === 'envs' ? dirname(environments) : undefined
  const hasBase = base !== undefined && existsSync(join(base, 'conda-meta')) && isInstallation(base, home)
  return hasBase ? [prefix, base] : [prefix]
}

const INSTALL_MARKERS = ['lib', 'lib64', 'libexec', 'conda-meta', 'pyvenv.cfg', 'versions', 'toolchains', 'candidates']

/** Folders with keys, caches or several toolchains do not count: they are shown piece by piece. */
function isInstallation(folder: string, userHome: string): boolean {
  const home = findHome(folder, userHome)
  if (home === undefined) return false
  const holdsOtherThings = [...HOME_TOOLCHAIN_PATHS, ...HOME_CACHE_PATHS, ...HOME_SECRET_PATHS].some((name) => {
    const listedPath = join(home, name)
    return listedPath !== folder && isInsideFolder(listedPath, folder)
  })
  return !holdsOtherThings && INSTALL_MARKERS.some((name) => existsSync(join(folder, name)))
}

/** The home folder that contains a path: the user's own, or another one, which is hidden as well. */
function findHome(path: string, userHome: string): string | undefined {
  const home = isInsideFolder(path, userHome) ? userHome : /^(?:\/root|\/home\/[^/]+)(?=\/)/.exec(path)?.[0]
  return path === home ? undefined : home
}

const MAX_PROGRAM_LINKS = 300

function listLinkTargets(folder: string): string[] {
  const entries = tryOrUndefined(() => readdirSync(folder, { withFileTypes: true })) ?? []
  const links = entries.filter((entry) => entry.isSymbolicLink()).slice(0, MAX_PROGRAM_LINKS)
  return links.flatMap(({ name }) => findRealPath(join(folder, name)) ?? [])
}
