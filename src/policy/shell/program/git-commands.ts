import type { FolderWalk } from '../../path/find-secrets.ts'
import { type FindPathRisk, hasOption, shareSpec } from './harmless-command-spec.ts'
import type { HarmlessCommandSpec, ParsedArguments } from './harmless-command-spec.ts'
import { findRemoteUrlRisk } from './git-repository.ts'

const DIFF_OPTIONS =
  '-# -p -u -s -U= -z -a -b -B? -C? -D -G= -M? -R -S= -w -W -q --patch --no-patch --unified= --raw --minimal --patience ' +
  '--histogram --diff-algorithm= --anchored= --stat? --stat-width= --stat-name-width= --stat-count= --compact-summary ' +
  '--numstat --shortstat --dirstat? --summary --patch-with-raw --patch-with-stat --name-only --name-status --color? ' +
  '--no-color --color-moved? --color-words? --word-diff? --word-diff-regex= --no-renames --find-renames? --find-copies? ' +
  '--find-copies-harder --break-rewrites? --irreversible-delete --diff-filter= --pickaxe-all --pickaxe-regex --relative? ' +
  '--text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines ' +
  '--ignore-matching-lines= --inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff --no-textconv ' +
  '--ignore-submodules? --src-prefix= --dst-prefix= --no-prefix --default-prefix --line-prefix= --abbrev? --full-index ' +
  '--binary --check --ws-error-highlight= --merge-base --cached --staged --ita-invisible-in-index --indent-heuristic'

const REVISION_OPTIONS =
  '-# -n= -i -E -F -g --oneline --graph --all --branches? --tags? --remotes? --decorate? --no-decorate --max-count= ' +
  '--skip= --since= --after= --until= --before= --author= --committer= --grep= --format= --pretty? --date= --reverse ' +
  '--merges --no-merges --first-parent --follow --topo-order --date-order --abbrev-commit --no-abbrev-commit --left-right ' +
  '--cherry-pick --simplify-by-decoration --full-history --name-only --walk-reflogs --no-walk --no-notes --source'

// `-c` shows the changes of merges and of a reflog.
const LOG_OPTIONS = `${REVISION_OPTIONS} -c -m`

interface GitCommandSpec extends HarmlessCommandSpec {
  readonly showsContent?: (args: ParsedArguments) => boolean
}

/** Options that show only names and numbers, unless a patch option is also given. */
const SUMMARY_OPTIONS =
  '-s -q --no-patch --raw --stat --numstat --shortstat --dirstat --summary --compact-summary --name-only --name-status --quiet'
const PATCH_OPTIONS =
  '-p -u -U -W -c --patch --unified --patch-with-raw --patch-with-stat --function-context --color-words --word-diff ' +
  '--word-diff-regex --binary --check --cc --inter-hunk-context'

const showsPatch = (args: ParsedArguments) => hasOption(args, ...PATCH_OPTIONS.split(' '))
const showsUnlessSummary = (args: ParsedArguments) =>
  showsPatch(args) || !hasOption(args, ...SUMMARY_OPTIONS.split(' '))
/** A blob named by its object id is shown whole, whatever the options. */
const mayBeObject = ({ operands }: ParsedArguments) =>
  operands.some((word) => /^[0-9a-f]{4,}(?:\^\{(?!commit\})|$)/i.test(word))

/** Outside of a trusted repository, git compares two paths as `diff -r` does. */
function toPairWalk(args: ParsedArguments): FolderWalk | undefined {
  if (args.paths.length !== 2 || !showsUnlessSummary(args)) return undefined
  return { roots: args.paths, readsHidden: true, usesIgnoreFiles: false, followsLinks: false, isRecursive: true }
}

const LIST_REFS_OPTIONS =
  '--sort= --contains? --no-contains? --merged? --no-merged? --points-at= --format= --column? --no-column --color?'

/** Read-only git commands by their first words, with their harmless options. */
export const GIT_COMMAND_SPECS: Readonly<Record<string, GitCommandSpec>> = {
  status: {
    options:
      '-s -b -v -u? -z --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignore-submodules? ' +
      '--ignored? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?',
    operands: 'paths',
    showsContent: (args) => hasOption(args, '-v', '--verbose'),
  },
  diff: { options: DIFF_OPTIONS, operands: 'paths', showsContent: showsUnlessSummary, walk: toPairWalk },
  log: { options: `${LOG_OPTIONS} ${DIFF_OPTIONS}`, operands: 'paths', showsContent: showsPatch },
  show: {
    options: `${LOG_OPTIONS} ${DIFF_OPTIONS}`,
    operands: 'paths',
    showsContent: (args) => showsUnlessSummary(args) || mayBeObject(args),
  },
  blame: { options: '-L= -l -t -s -e -w -M? -C? --date= --porcelain --line-porcelain --show-email', operands: 'paths' },
  grep: {
    options:
      '-# -A= -B= -C= -c -e= -E -F -G -h -H -i -I -l -L -n -o -p -P -q -v -w -W -z --after-context= --and --before-context= ' +
      '--break --cached --color? --column --context= --count --extended-regexp --files-with-matches --fixed-strings ' +
      '--full-name --function-context --heading --ignore-case --invert-match --line-number --max-count= --max-depth= ' +
      '--name-only --no-color --not --null --only-matching --or --perl-regexp --quiet --show-function --word-regexp',
    operands: 'pattern',
    replacesFirstOperand: ['-e'],
    showsContent: () => true,
  },
  'ls-files': {
    options:
      '-c -d -m -o -s -t -v -z --cached --deleted --modified --others --stage --exclude-standard --full-name --error-unmatch',
    operands: 'paths',
  },
  'ls-tree': {
    options: '-d -r -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev? --format=',
    operands: 'paths',
  },
  'rev-parse': {
    options:
      '-q --verify --short? --abbrev-ref? --show-toplevel --git-dir --absolute-git-dir --git-common-dir --show-prefix ' +
      '--show-cdup --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository ' +
      '--symbolic-full-name --symbolic --all --branches? --tags? --remotes?',
    operands: 'paths',
  },
  'rev-list': {
    options: `${REVISION_OPTIONS} --count --objects-edge --timestamp --parents --children --left-only --right-only --ancestry-path?`,
    operands: 'paths',
  },
  branch: {
    options: `-a -r -v -l --all --remotes --verbose --list --show-current -i --ignore-case --abbrev? ${LIST_REFS_OPTIONS}`,
    operands: 'none',
  },
  'branch --list': { options: `-a -r -v --all --remotes --verbose -i ${LIST_REFS_OPTIONS}`, operands: 'text' },
  tag: { options: `-l -n? --list -i --ignore-case ${LIST_REFS_OPTIONS}`, operands: 'none' },
  ...shareSpec('tag -l, tag --list', { options: `-n? -i --ignore-case ${LIST_REFS_OPTIONS}`, operands: 'text' }),
  remote: { options: '-v --verbose', operands: 'none', findFolderRisk: findRemoteUrlRisk },
  'remote get-url': { options: '--all --push', operands: 'text', maxOperands: 1, findFolderRisk: findRemoteUrlRisk },
  'stash list': { options: REVISION_OPTIONS, operands: 'none' },
  'worktree list': { options: '-v -z --porcelain --verbose', operands: 'none' },
  reflog: { options: REVISION_OPTIONS, operands: 'none' },
  'reflog show': { options: REVISION_OPTIONS, operands: 'text', operandPattern: /^[^:]+$/ },
  describe: {
    options:
      '--all --tags --contains --abbrev= --exact-match --long --match= --exclude= --always --first-parent --dirty? --broken?',
    operands: 'text',
  },
  shortlog: { options: `${REVISION_OPTIONS} -n -s -e -w? --numbered --summary --email --group=`, operands: 'paths' },
  'merge-base': { options: '-a --all --octopus --independent --is-ancestor --fork-point', operands: 'text' },
  'show-ref': {
    options: '-s -d -q --head --heads --branches --tags --verify --hash? --abbrev? --dereference',
    operands: 'text',
  },
  'for-each-ref': { options: `--count= --omit-empty --ignore-case ${LIST_REFS_OPTIONS}`, operands: 'text' },
  'name-rev': { options: '--name-only --tags --refs= --exclude= --all --always', operands: 'text' },
  'symbolic-ref': { options: '-q --short --quiet', operands: 'text', maxOperands: 1 },
  ...shareSpec('cat-file -t, cat-file -s, cat-file -e', { options: '', operands: 'text', maxOperands: 1 }),
  'check-ignore': { options: '-v -n -q --verbose --quiet --non-matching --no-index', operands: 'paths' },
  cherry: { options: '-v --abbrev?', operands: 'text' },
  'diff-tree': {
    options: `-r -t --root --no-commit-id ${DIFF_OPTIONS}`,
    operands: 'paths',
    showsContent: showsPatch,
  },
  'stash show': { options: DIFF_OPTIONS, operands: 'none', showsContent: showsPatch },
  'count-objects': { options: '-v -H --verbose --human-readable', operands: 'none' },
  ...shareSpec('config, config --get', {
    options: '',
    operands: 'text',
    maxOperands: 1,
    operandPattern: /^(?:user|core|remote|branch|init)\.[\w./-]+$/,
    findFolderRisk: findRemoteUrlRisk,
  }),
  version: { options: '--build-options', operands: 'none' },
}

/** Removes global options that only affect the output: `git --no-pager diff`. */
export function stripGitPagerOptions(words: readonly string[]): readonly string[] {
  if (words[0] !== 'git') return words
  const at = words.findIndex((word, index) => index > 0 && !/^(?:--no-pager|-P|--no-optional-locks)$/.test(word))
  return at < 0 ? words : ['git', ...words.slice(at)]
}

/** Removes all global options: a deny rule applies with them too. */
export function stripGitGlobalOptions(words: readonly string[]): readonly string[] {
  if (words[0] !== 'git') return words
  let at = 1
  while (words[at]?.startsWith('-'))
    at += /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|config-env))$/.test(words[at] ?? '') ? 2 : 1
  return ['git', ...words.slice(at)]
}

/** `git -C folder …` is git in that folder. */
export function parseGitFolder(words: readonly string[]): {
  readonly words: readonly string[]
  readonly folder?: string
} {
  const [name, option, folder, ...rest] = stripGitPagerOptions(words)
  if (name !== 'git' || option !== '-C' || folder === undefined) return { words }
  return { words: ['git', ...rest], folder }
}

/** A revision or a path: `HEAD:.env` is a path too. Magic pathspecs are not supported. */
export function findGitPathRisk(word: string, findPathRisk: FindPathRisk): string | undefined {
  if (word.startsWith(':') || word.startsWith('^:')) return `“${word}” is not known to be harmless`
  const colon = word.indexOf(':')
  return findPathRisk(word) ?? (colon < 0 ? undefined : findPathRisk(word.slice(colon + 1)))
}
