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
