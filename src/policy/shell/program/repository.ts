import { posix } from 'node:path'
import type { Disk } from '../../disk.ts'
import { holdsKey } from '../../path/repository-key.ts'

/**
 * Says why git must not be trusted with the repositories that it might find from a folder on: it runs whatever programs
 * their settings name, even to show a difference. Only settings that are known to run nothing are trusted. Git passes over
 * what it takes for no repository, so every candidate up to the root counts, not only the nearest one.
 */
export function repositoryDoubt(folder: string, disk: Disk): string | undefined {
  for (const at of upwards(folder)) {
    const doubt = candidateDoubt(at, disk)
    if (doubt !== undefined) return doubt
  }
  return undefined
}

/** Where the repositories lie that git might find from a folder on, the nearest first. */
export function repositoriesOf(folder: string, disk: Disk): Repository[] {
  return upwards(folder).flatMap((at) => {
    const found = disk.has(posix.join(at, '.git')) ? repositoryAt(at, disk) : undefined
    return found && 'own' in found ? [found] : []
  })
}

/** Says why addresses of a repository must not be shown: a key may stand in them. */
export function addressDoubt(folder: string, disk: Disk): string | undefined {
  const hasKey = repositoriesOf(folder, disk).some(({ common }) =>
    holdsKey(textAt(posix.join(common, 'config'), disk) ?? ''),
  )
  return hasKey ? 'an address of the repository holds a password' : undefined
}

/** A repository: its working folder, its own folder, and the one that it shares with other working folders. */
export interface Repository {
  readonly top: string
  readonly own: string
  readonly common: string
}

function upwards(folder: string): string[] {
  const parent = posix.dirname(folder)
  return parent === folder ? [folder] : [folder, ...upwards(parent)]
}

function candidateDoubt(top: string, disk: Disk): string | undefined {
  // A folder with a HEAD may itself be a repository, with all its settings wherever its `commondir` says.
  if (disk.has(posix.join(top, 'HEAD'))) return `${top} looks like a repository without a folder of its own`
  if (!disk.has(posix.join(top, '.git'))) return undefined
  const found = repositoryAt(top, disk)
  return 'doubt' in found ? found.doubt : settingsDoubt(found, disk)
}

function settingsDoubt({ top, own, common }: Repository, disk: Disk): string | undefined {
  const settings = textAt(posix.join(common, 'config'), disk)
  if (settings === undefined) return 'the settings of the repository cannot be read'
  const special = posix.join(own, 'config.worktree')
  const more = disk.has(special) ? textAt(special, disk) : ''
  if (more === undefined) return 'the settings of this working folder cannot be read'
  const { odd, hooks } = readSettings(`${settings}\n${more}`)
  if (odd !== undefined) return `the repository sets ${odd}, with which git may run a program`
  const hookFolders = [posix.join(common, 'hooks'), ...hooks.map((path) => posix.resolve(top, path))]
  if (hookFolders.some((path) => disk.has(posix.join(path, 'post-index-change'))))
    return 'the repository has a hook that runs even now'
  const objects = posix.join(common, 'objects')
  if (
    disk.real(objects) !== posix.join(disk.real(common) ?? common, 'objects') ||
    disk.has(`${objects}/info/alternates`)
  )
    return 'the repository takes objects from elsewhere'
  return submoduleDoubt(own, common, disk)
}

/** Git starts itself in a repository inside of a repository, with the settings of that one. */
function submoduleDoubt(own: string, common: string, disk: Disk): string | undefined {
  const shared = [own, common].flatMap((folder) =>
    (disk.list(folder) ?? []).flatMap(({ name }) =>
      name.startsWith('sharedindex.') ? [posix.join(folder, name)] : [],
    ),
  )
  for (const path of [posix.join(own, 'index'), ...shared]) {
    const index = disk.has(path) ? disk.read(path) : new Uint8Array()
    if (!index) return 'the index of the repository cannot be read'
    if (Buffer.from(index.buffer, index.byteOffset, index.byteLength).includes(SUBMODULE))
      return 'there is a repository in the repository, with settings of its own'
  }
  return undefined
}

/** The kind of an entry of the index that is a repository of its own. */
const SUBMODULE = Buffer.from([0x00, 0x00, 0xe0, 0x00])

function repositoryAt(top: string, disk: Disk): Repository | { readonly doubt: string } {
  const own = posix.join(top, '.git')
  const kind = disk.kind(own)
  if (kind === 'file') return linkedWorktree(top, own, disk)
  if (kind !== 'folder') return { doubt: `${own} is neither a folder nor a file` }
  // Only a working folder beside the main one has its settings elsewhere, and then `.git` is a file.
  if (disk.has(posix.join(own, 'commondir'))) return { doubt: 'the settings of the repository lie elsewhere' }
  return { top, own, common: own }
}

/** A working folder beside the main one, whose repository lies elsewhere and knows of it. */
function linkedWorktree(top: string, file: string, disk: Disk): Repository | { readonly doubt: string } {
  const doubt = { doubt: 'the repository lies elsewhere' }
  const place = /^gitdir: ([^\n]+)\n?$/.exec(textAt(file, disk) ?? '')?.[1]
  if (place === undefined) return doubt
  const own = posix.resolve(top, place)
  const back = textAt(posix.join(own, 'gitdir'), disk)?.trim()
  const common = textAt(posix.join(own, 'commondir'), disk)?.trim()
  if (back === undefined || common === undefined || common === '') return doubt
  // Who writes a `.git` file cannot also write into a repository of the person's elsewhere.
  if (disk.real(posix.resolve(own, back)) !== disk.real(file)) return doubt
  return { top, own, common: posix.resolve(own, common) }
}

function textAt(path: string, disk: Disk): string | undefined {
  const bytes = disk.read(path)
  return bytes && Buffer.from(bytes).toString('utf8')
}

/** The first setting that is not known to be harmless, and the folders of hooks. */
function readSettings(text: string): { readonly odd?: string; readonly hooks: readonly string[] } {
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
    // Comments, quotes, `~` and `%(prefix)` give a value another meaning than its text.
    if (name === 'core.hookspath' && /^[\w./@-]+$/.test(value)) hooks.push(value)
    else if (key === '' || setting.endsWith('\\') || !HARMLESS.test(name))
      return { odd: key === '' ? `“${setting}”` : name, hooks }
    else if (name === 'core.bare' && value !== 'false') return { odd: name, hooks }
  }
  return { hooks }
}

const HARMLESS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|protecthfs|protectntfs|symlinks|autocrlf|eol|safecrlf|quotepath|longpaths|abbrev|untrackedcache|splitindex|commitgraph|preloadindex|trustctime|checkstat|sharedrepository|compression)|extensions\.(?:objectformat|refstorage)|user\.(?:name|email|signingkey|useconfigonly)|author\.\w+|committer\.\w+|remote\.(?:url|fetch|pushurl|tagopt|prune|gh-resolved|pushdefault)|branch\.[\w-]+|init\.defaultbranch|pull\.\w+|push\.\w+|fetch\.(?:prune|prunetags|parallel)|commit\.gpgsign|tag\.gpgsign|rebase\.\w+|color\.\w+|advice\.\w+|gc\.\w+|pack\.\w+|rerere\.\w+|lfs\.(?:repositoryformatversion|locksverify)|merge\.(?:conflictstyle|ff)|diff\.(?:algorithm|renames|renamelimit|mnemonicprefix|noprefix|colormoved|context)|status\.(?:short|branch|showuntrackedfiles|relativepaths|showstash)|log\.(?:date|abbrevcommit|decorate|follow)|help\.autocorrect|feature\.manyfiles|index\.version|http\.postbuffer|credential\.username|gitflow\.[\w-]+|alias\.[\w-]+|vscode-merge-base\.[\w-]+|maintenance\.(?:auto|strategy))$/
