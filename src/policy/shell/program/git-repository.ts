import { posix } from 'node:path'
import type { DiskView } from '../../disk-view.ts'
import { containsCredentials } from '../../path/repository-credentials.ts'

/**
 * Returns why git must not run in a folder: git runs programs that a repository's configuration names, even for a
 * diff. Only configuration that is known to run nothing is trusted. Git skips invalid repositories, so every candidate
 * up to the root is checked.
 */
export function findRepositoryRisk(folder: string, disk: DiskView): string | undefined {
  for (const at of listAncestors(folder)) {
    const risk = findCandidateRisk(at, disk)
    if (risk !== undefined) return risk
  }
  return undefined
}

/** Returns the repositories that git might find from a folder, the nearest first. */
export function findRepositories(folder: string, disk: DiskView): GitRepository[] {
  return listAncestors(folder).flatMap((at) => {
    const found = disk.exists(posix.join(at, '.git')) ? locateRepository(at, disk) : undefined
    return found && 'gitFolder' in found ? [found] : []
  })
}

/** Remote URLs may contain a key. */
export function findRemoteUrlRisk(folder: string, disk: DiskView): string | undefined {
  const hasKey = findRepositories(folder, disk).some(({ commonFolder }) =>
    containsCredentials(readTextFile(posix.join(commonFolder, 'config'), disk) ?? ''),
  )
  return hasKey ? 'an address of the repository holds a password' : undefined
}

/** `commonFolder` is shared with other worktrees. */
export interface GitRepository {
  readonly top: string
  readonly gitFolder: string
  readonly commonFolder: string
}

function listAncestors(folder: string): string[] {
  const parent = posix.dirname(folder)
  return parent === folder ? [folder] : [folder, ...listAncestors(parent)]
}

function findCandidateRisk(top: string, disk: DiskView): string | undefined {
  // A folder with a HEAD may be a bare repository, with its configuration where `commondir` says.
  if (disk.exists(posix.join(top, 'HEAD'))) return `${top} looks like a repository without a folder of its own`
  if (!disk.exists(posix.join(top, '.git'))) return undefined
  const found = locateRepository(top, disk)
  return 'doubt' in found ? found.doubt : findSettingsRisk(found, disk)
}

function findSettingsRisk({ top, gitFolder, commonFolder }: GitRepository, disk: DiskView): string | undefined {
  const settings = readTextFile(posix.join(commonFolder, 'config'), disk)
  if (settings === undefined) return 'the settings of the repository cannot be read'
  const special = posix.join(gitFolder, 'config.worktree')
  const more = disk.exists(special) ? readTextFile(special, disk) : ''
  if (more === undefined) return 'the settings of this working folder cannot be read'
  const { odd, hooks } = parseGitConfig(`${settings}\n${more}`)
  if (odd !== undefined) return `the repository sets ${odd}, with which git may run a program`
  const hookFolders = [posix.join(commonFolder, 'hooks'), ...hooks.map((path) => posix.resolve(top, path))]
  if (hookFolders.some((path) => disk.exists(posix.join(path, 'post-index-change'))))
    return 'the repository has a hook that runs even now'
  const objects = posix.join(commonFolder, 'objects')
  if (
    disk.realPath(objects) !== posix.join(disk.realPath(commonFolder) ?? commonFolder, 'objects') ||
    disk.exists(`${objects}/info/alternates`)
  )
    return 'the repository takes objects from elsewhere'
  return findSubmoduleRisk(gitFolder, commonFolder, disk)
}

/** Git starts itself in a submodule, with the configuration of that. */
function findSubmoduleRisk(gitFolder: string, commonFolder: string, disk: DiskView): string | undefined {
  const shared = [gitFolder, commonFolder].flatMap((folder) =>
    (disk.list(folder) ?? []).flatMap(({ name }) =>
      name.startsWith('sharedindex.') ? [posix.join(folder, name)] : [],
    ),
  )
  for (const path of [posix.join(gitFolder, 'index'), ...shared]) {
    const index = disk.exists(path) ? disk.read(path) : new Uint8Array()
    if (!index) return 'the index of the repository cannot be read'
    if (Buffer.from(index.buffer, index.byteOffset, index.byteLength).includes(SUBMODULE_MODE_BYTES))
      return 'there is a repository in the repository, with settings of its own'
  }
  return undefined
}

/** The mode of an index entry that is a submodule. */
const SUBMODULE_MODE_BYTES = Buffer.from([0x00, 0x00, 0xe0, 0x00])

function locateRepository(top: string, disk: DiskView): GitRepository | { readonly doubt: string } {
  const gitFolder = posix.join(top, '.git')
  const kind = disk.kind(gitFolder)
  if (kind === 'file') return locateLinkedWorktree(top, gitFolder, disk)
  if (kind !== 'folder') return { doubt: `${gitFolder} is neither a folder nor a file` }
  // Only a linked worktree has its configuration elsewhere, and then `.git` is a file.
  if (disk.exists(posix.join(gitFolder, 'commondir'))) return { doubt: 'the settings of the repository lie elsewhere' }
  return { top, gitFolder, commonFolder: gitFolder }
}

/** A worktree whose repository is elsewhere and refers back to it. */
function locateLinkedWorktree(top: string, file: string, disk: DiskView): GitRepository | { readonly doubt: string } {
  const risk = { doubt: 'the repository lies elsewhere' }
  const pointedFolder = /^gitdir: ([^\n]+)\n?$/.exec(readTextFile(file, disk) ?? '')?.[1]
  if (pointedFolder === undefined) return risk
  const gitFolder = posix.resolve(top, pointedFolder)
  const back = readTextFile(posix.join(gitFolder, 'gitdir'), disk)?.trim()
  const commonFolder = readTextFile(posix.join(gitFolder, 'commondir'), disk)?.trim()
  if (back === undefined || commonFolder === undefined || commonFolder === '') return risk
  // An attacker who can write a `.git` file cannot also write into another repository of the user.
  if (disk.realPath(posix.resolve(gitFolder, back)) !== disk.realPath(file)) return risk
  return { top, gitFolder, commonFolder: posix.resolve(gitFolder, commonFolder) }
}

function readTextFile(path: string, disk: DiskView): string | undefined {
  const bytes = disk.read(path)
  return bytes && Buffer.from(bytes).toString('utf8')
}

/** Returns the first setting that is not known to be harmless, and the hook folders. */
function parseGitConfig(text: string): { readonly odd?: string; readonly hooks: readonly string[] } {
  let section = ''
  const hooks: string[] = []
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue
    const [, head, , rest = ''] = /^\[([\w.-]+)(\s+"[^"\\]*")?\]\s*(.*)$/.exec(line) ?? []
    if (head !== undefined) section = head.toLowerCase()
    const setting = head === undefined ? line : rest
    if (setting === '') continue
    const [, key = '', value = ''] = /^([\w-]+)\s*(?:=\s*(.*))?$/.exec(setting) ?? []
    const name = `${section}.${key.toLowerCase()}`
    // Comments, quotes, `~` and `%(prefix)` change the meaning of a value.
    if (name === 'core.hookspath' && /^[\w./@-]+$/.test(value)) hooks.push(value)
    else if (key === '' || setting.endsWith('\\') || !HARMLESS_SETTING.test(name))
      return { odd: key === '' ? `“${setting}”` : name, hooks }
    else if (name === 'core.bare' && value !== 'false') return { odd: name, hooks }
  }
  return { hooks }
}

const HARMLESS_SETTING =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|protecthfs|protectntfs|symlinks|autocrlf|eol|safecrlf|quotepath|longpaths|abbrev|untrackedcache|splitindex|commitgraph|preloadindex|trustctime|checkstat|sharedrepository|compression)|extensions\.(?:objectformat|refstorage)|user\.(?:name|email|signingkey|useconfigonly)|author\.\w+|committer\.\w+|remote\.(?:url|fetch|pushurl|tagopt|prune|gh-resolved|pushdefault)|branch\.[\w-]+|init\.defaultbranch|pull\.\w+|push\.\w+|fetch\.(?:prune|prunetags|parallel)|commit\.gpgsign|tag\.gpgsign|rebase\.\w+|color\.\w+|advice\.\w+|gc\.\w+|pack\.\w+|rerere\.\w+|lfs\.(?:repositoryformatversion|locksverify)|merge\.(?:conflictstyle|ff)|diff\.(?:algorithm|renames|renamelimit|mnemonicprefix|noprefix|colormoved|context)|status\.(?:short|branch|showuntrackedfiles|relativepaths|showstash)|log\.(?:date|abbrevcommit|decorate|follow)|help\.autocorrect|feature\.manyfiles|index\.version|http\.postbuffer|credential\.username|gitflow\.[\w-]+|alias\.[\w-]+|vscode-merge-base\.[\w-]+|maintenance\.(?:auto|strategy))$/
