import { posix } from 'node:path'
import type { Disk } from '../../disk.ts'
import type { Form } from './form.ts'

const DIFF =
  '-# -p -u -s -U= -z -a -b -B? -C? -D -G= -M? -R -S= -w -W -q --patch --no-patch --unified= --raw --minimal --patience ' +
  '--histogram --diff-algorithm= --anchored= --stat? --stat-width= --stat-name-width= --stat-count= --compact-summary ' +
  '--numstat --shortstat --dirstat? --summary --patch-with-raw --patch-with-stat --name-only --name-status --color? ' +
  '--no-color --color-moved? --color-words? --word-diff? --word-diff-regex= --no-renames --find-renames? --find-copies? ' +
  '--find-copies-harder --break-rewrites? --irreversible-delete --diff-filter= --pickaxe-all --pickaxe-regex --relative? ' +
  '--text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines ' +
  '--ignore-matching-lines= --inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff --no-textconv ' +
  '--ignore-submodules? --src-prefix= --dst-prefix= --no-prefix --default-prefix --line-prefix= --abbrev? --full-index ' +
  '--binary --check --ws-error-highlight= --merge-base --cached --staged --ita-invisible-in-index --indent-heuristic'

const LOG =
  '-n= -i -E -F -g -c -m --oneline --graph --all --branches? --tags? --remotes? --decorate? --no-decorate --max-count= ' +
  '--skip= --since= --after= --until= --before= --author= --committer= --grep= --format= --pretty? --date= --reverse ' +
  '--merges --no-merges --first-parent --follow --topo-order --date-order --abbrev-commit --no-abbrev-commit --left-right ' +
  '--cherry-pick --simplify-by-decoration --full-history --name-only --walk-reflogs --no-walk --no-notes --source'

/** What git does without changing anything, with the harmless options. */
export const GIT: Readonly<Record<string, Form>> = {
  status: {
    options:
      '-s -b -v -u? -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? ' +
      '--ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?',
    operands: 'paths',
  },
  diff: { options: DIFF, operands: 'paths' },
  log: { options: `${LOG} ${DIFF}`, operands: 'paths' },
  show: { options: `${LOG} ${DIFF}`, operands: 'paths' },
  blame: { options: '-L= -l -t -s -e -w -M? -C? --date= --porcelain --line-porcelain --show-email', operands: 'paths' },
  'ls-files': {
    options:
      '-c -d -m -o -s -t -v -z --cached --deleted --modified --others --stage --exclude-standard --full-name --error-unmatch',
    operands: 'paths',
  },
  'rev-parse': {
    options:
      '-q --verify --short? --abbrev-ref? --show-toplevel --git-dir --show-prefix --is-inside-work-tree --symbolic-full-name',
    operands: 'paths',
  },
  branch: {
    options: '-a -r -v --all --remotes --verbose --list --show-current --contains? --merged? --no-merged? --sort=',
    operands: 'none',
  },
}

/** The words of a git command without options that change nothing but the printing: `git --no-pager diff`. */
export function withoutPrinting(words: readonly string[]): readonly string[] {
  if (words[0] !== 'git') return words
  const at = words.findIndex((word, index) => index > 0 && !/^(?:--no-pager|-P|--no-optional-locks)$/.test(word))
  return at < 0 ? words : ['git', ...words.slice(at)]
}

/** A revision or a path: `HEAD:.env` is a path too. Paths with signs of magic are not understood. */
export function gitPath(word: string, path: (word: string) => string | undefined): string | undefined {
  if (word.startsWith(':') || word.startsWith('^:')) return `“${word}” is not known to be harmless`
  const colon = word.indexOf(':')
  return path(word) ?? (colon < 0 ? undefined : path(word.slice(colon + 1)))
}

/**
 * Says why git must not be trusted with a repository: it runs whatever programs the settings of the repository name, even
 * to show a difference. Only settings that are known to run nothing are trusted.
 */
export function repositoryDoubt(folder: string, disk: Disk): string | undefined {
  const home = repositoryOf(folder, disk)
  if (home === undefined) return undefined
  if ('doubt' in home) return home.doubt
  const { own, common } = home
  const settings = textAt(posix.join(common, 'config'), disk)
  if (settings === undefined) return 'the settings of the repository cannot be read'
  const { odd, hooks } = readSettings(settings)
  if (odd !== undefined) return `the repository sets ${odd}, with which git may run a program`
  if (disk.kind(posix.join(own, 'config.worktree'))) return 'the repository has settings for this folder alone'
  const folderOfHooks = posix.resolve(posix.dirname(own), hooks ?? posix.join(common, 'hooks'))
  if (disk.kind(posix.join(folderOfHooks, 'post-index-change'))) return 'the repository has a hook that runs even now'
  const index = disk.read(posix.join(own, 'index'))
  if (index && Buffer.from(index).includes(SUBMODULE))
    return 'there is a repository in the repository, with settings of its own'
  return undefined
}

/** The kind of an entry of the index that is a repository of its own. */
const SUBMODULE = Buffer.from([0x00, 0x00, 0xe0, 0x00])

type Home = { readonly own: string; readonly common: string } | { readonly doubt: string }

/** Goes up from a folder as git does. */
function repositoryOf(folder: string, disk: Disk): Home | undefined {
  for (let at = folder; ; at = posix.dirname(at)) {
    const own = posix.join(at, '.git')
    const kind = disk.kind(own)
    if (kind === 'folder') return { own, common: own }
    if (kind === 'file') return linked(own, disk)
    if (['HEAD', 'objects', 'refs'].every((name) => disk.kind(posix.join(at, name)))) {
      return { doubt: `${at} looks like a repository without a folder of its own` }
    }
    if (at === posix.dirname(at)) return undefined
  }
}

/** A folder beside the main one, whose repository lies elsewhere. */
function linked(file: string, disk: Disk): Home {
  const own = /^gitdir: (.+?)\s*$/.exec(textAt(file, disk) ?? '')?.[1]
  const doubt = { doubt: 'the repository lies elsewhere' }
  if (own === undefined) return doubt
  const place = posix.resolve(posix.dirname(file), own)
  const common = textAt(posix.join(place, 'commondir'), disk)?.trim()
  return common === undefined ? doubt : { own: place, common: posix.resolve(place, common) }
}

function textAt(path: string, disk: Disk): string | undefined {
  const bytes = disk.read(path)
  return bytes && Buffer.from(bytes).toString('utf8')
}

/** The first setting that is not known to be harmless, and where the hooks are. */
function readSettings(text: string): { odd?: string; hooks?: string } {
  let section = ''
  let hooks: string | undefined
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || /^[#;]/.test(line)) continue
    const [, head, , rest = ''] = /^\[([\w.-]+)(\s+"[^"\\]*")?\]\s*(.*)$/.exec(line) ?? []
    if (head !== undefined) section = head.toLowerCase()
    const setting = head === undefined ? line : rest
    if (setting === '') continue
    const [, key = '', value = ''] = /^([\w-]+)\s*(?:=\s*(.*))?$/.exec(setting) ?? []
    const name = `${section}.${key.toLowerCase()}`
    if (name === 'core.hookspath' && !/[\\"~]/.test(value)) hooks = value
    else if (key === '' || setting.endsWith('\\') || !HARMLESS.test(name)) return { odd: key === '' ? setting : name }
    else if (name === 'core.bare' && value !== 'false') return { odd: name }
  }
  return hooks === undefined ? {} : { hooks }
}

const HARMLESS =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|longpaths|abbrev|untrackedcache|splitindex)|user\.(?:name|email|signingkey|useconfigonly)|author\.\w+|committer\.\w+|remote\.(?:url|fetch|pushurl|tagopt|prune|gh-resolved|pushdefault)|branch\.[\w-]+|init\.defaultbranch|pull\.\w+|push\.\w+|fetch\.(?:prune|prunetags)|commit\.gpgsign|tag\.gpgsign|rebase\.\w+|color\.\w+|advice\.\w+|gc\.\w+|rerere\.\w+|lfs\.(?:repositoryformatversion|locksverify)|merge\.(?:conflictstyle|ff)|status\.\w+|log\.(?:date|abbrevcommit|decorate)|help\.autocorrect|feature\.manyfiles|index\.version|credential\.username|gitflow\.[\w-]+|alias\.[\w-]+|vscode-merge-base\.[\w-]+)$/
