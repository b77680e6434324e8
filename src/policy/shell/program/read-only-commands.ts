import type { FolderWalk } from '../../path/find-secrets.ts'
import { matchesGlob } from '../../path/path-pattern.ts'
import { type HarmlessCommandSpec, type ParsedArguments, hasOption, shareSpec } from './harmless-command-spec.ts'
import { findAwkRisk, findJqRisk, findPrintfRisk, findSedRisk } from './inline-scripts.ts'
import { findBracketCommandRisk, findFindCommandRisk, findTestCommandRisk } from './find-and-test-commands.ts'
import { withVersionRiskCheck } from './version-commands.ts'

export const createReadOnlyCommandSpecs = (): Readonly<Record<string, HarmlessCommandSpec>> => ({
  ls: {
    options:
      '-a -A -b -B -c -C -d -D -f -F -g -G -h -i -I= -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T= -u -U -v -w= -x -X -1 ' +
      '--all --almost-all --author --escape --block-size= --ignore-backups --color? --directory --classify? --file-type ' +
      '--format= --full-time --group-directories-first --no-group --human-readable --si --hide= --hyperlink? ' +
      '--indicator-style= --inode --ignore= --kibibytes --numeric-uid-gid --literal --hide-control-chars ' +
      '--show-control-chars --quote-name --quoting-style= --reverse --recursive --size --sort= --time= --time-style= ' +
      '--tabsize= --width= --zero --help --version',
    operands: 'paths',
  },
  cat: {
    options:
      '-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs ' +
      '--show-nonprinting --help --version',
    operands: 'paths',
  },
  echo: { options: '-n -e -E', operands: 'text' },
  pwd: { options: '-L -P', operands: 'none' },
  true: { options: '', operands: 'text' },
  false: { options: '', operands: 'text' },
  head: {
    options: '-# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated',
    operands: 'paths',
  },
  tail: {
    options:
      '-# -c= -f -F -n= -q -s= -v -z --bytes= --follow? --lines= --quiet --retry --silent --verbose --zero-terminated',
    operands: 'paths',
  },
  wc: { options: '-c -m -l -L -w --bytes --chars --lines --max-line-length --words --total=', operands: 'paths' },
  nl: { options: '-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w=', operands: 'paths' },
  cut: {
    options:
      '-b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter=',
    operands: 'paths',
  },
  tr: { options: '-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1', operands: 'text' },
  sort: {
    options:
      '-b -d -f -g -h -i -M -n -R -r -V -c -C -k= -m -s -t= -u -z --ignore-leading-blanks --dictionary-order --ignore-case ' +
      '--general-numeric-sort --month-sort --human-numeric-sort --numeric-sort --reverse --version-sort --check? --key= ' +
      '--merge --stable --field-separator= --unique --zero-terminated',
    operands: 'paths',
  },
  uniq: {
    options:
      '-c -d -D -f= -i -s= -u -w= -z --count --repeated --ignore-case --unique --skip-fields= --skip-chars= --check-chars=',
    operands: 'paths',
    maxOperands: 1,
  },
  stat: { options: '-c= -f -t --format= --printf= --terse --file-system', operands: 'paths' },
  du: {
    options: '-a -b -c -d= -h -k -m -s -x --all --bytes --total --max-depth= --human-readable --summarize --si',
    operands: 'paths',
  },
  file: { options: '-b -i -k --brief --mime --mime-type --mime-encoding --keep-going', operands: 'paths' },
  basename: { options: '-a -s= -z --multiple --suffix= --zero', operands: 'text' },
  dirname: { options: '-z --zero', operands: 'text' },
  realpath: { options: '-e -m -q -s -z --relative-to@', operands: 'paths' },
  which: { options: '-a', operands: 'text' },
  // An operand without a plus sign would set the clock.
  date: { options: '-u -R -I? -d= --utc --iso-8601? --rfc-3339= --date=', operands: 'text', operandPattern: /^\+/ },
  diff: {
    options:
      '-a -b -B -c -C= -d -e -i -n -N -p -q -r -s -t -u -U= -w -W= -y --brief --unified? --context? --side-by-side ' +
      '--ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --color? --width= --text --recursive ' +
      '--new-file --report-identical-files --strip-trailing-cr --minimal --suppress-common-lines',
    operands: 'paths',
    maxOperands: 2,
    walk: (args) => ({
      roots: args.paths,
      readsHidden: true,
      usesIgnoreFiles: false,
      followsLinks: true,
      isRecursive: hasOption(args, '-r', '--recursive'),
    }),
  },
  grep: {
    options:
      '-# -a -A= -b -B= -c -C= -e= -E -F -G -h -H -i -I -l -L -m= -n -o -P -q -r -s -v -w -x -z --recursive ' +
      '--include= --exclude= --exclude-dir= --after-context= ' +
      '--before-context= --binary-files= --byte-offset --color? --colour? --context= --count --extended-regexp ' +
      '--files-with-matches --files-without-match --fixed-strings --ignore-case --no-ignore-case --invert-match ' +
      '--line-number --line-regexp --max-count= --no-filename --no-messages --null --only-matching --perl-regexp ' +
      '--quiet --silent --regexp= --text --with-filename --word-regexp',
    operands: 'pattern',
    replacesFirstOperand: ['-e', '--regexp'],
    walk: toGrepWalk,
  },
  // Left out: --pre, --hostname-bin and -z run programs; --hidden, -u and --ignore-file may read secrets; -L follows
  // links.
  rg: {
    options:
      '-# -a -A= -b -B= -c -C= -d= -e= -f@ -F -g% -H -i -I -j= -l -m= -M= -n -N -o -p -P -q -r= -s -S -t= -T= -U -v -w -x ' +
      '-0 -E= --after-context= --before-context= --binary --block-buffered --byte-offset --case-sensitive --color= ' +
      '--colors= --column --context= --context-separator= --count --count-matches --crlf --dfa-size-limit= --encoding= ' +
      '--engine= --field-context-separator= --field-match-separator= --file@ --files --files-with-matches ' +
      '--files-without-match --fixed-strings --glob% --heading --help --ignore-case --include-zero --invert-match ' +
      '--json --line-buffered --line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= ' +
      '--max-filesize= --mmap --multiline --multiline-dotall --no-column --no-config --no-context-separator --no-filename ' +
      '--no-heading --no-line-number --no-messages --no-mmap --no-unicode --null --null-data --one-file-system ' +
      '--only-matching --passthru --path-separator= --pcre2 --pcre2-version --pretty --quiet --regex-size-limit= --regexp= ' +
      '--replace= --smart-case --sort= --sortr= --stats --stop-on-nonmatch --text --threads= --trim --type= --type-list ' +
      '--type-not= --version --vimgrep --with-filename --word-regexp',
    operands: 'pattern',
    replacesFirstOperand: '-e --regexp -f --file --files --type-list --pcre2-version --version --help'.split(' '),
    // Without a path it searches the whole folder.
    walk: (args) =>
      hasOption(args, '--files', '--type-list', '--version', '--help') ? undefined : toRipgrepWalk(args),
  },
  find: { options: '', operands: 'none', findWordsRisk: findFindCommandRisk },
  sed: {
    options: '-n -E -r -s -u -z -e! --quiet --silent --regexp-extended --expression! --separate --null-data',
    operands: 'script',
    replacesFirstOperand: ['-e', '--expression'],
    findScriptRisk: findSedRisk,
  },
  awk: { options: '-F= -v=', operands: 'script', findScriptRisk: findAwkRisk },
  jq: {
    options:
      '-r -c -s -n -e -S -M -C -j -a -R --raw-output --compact-output --slurp --null-input --exit-status --sort-keys ' +
      '--monochrome-output --color-output --join-output --ascii-output --raw-input --tab --indent=',
    operands: 'script',
    findScriptRisk: findJqRisk,
  },
  tree: {
    options:
      '-a -d -f -i -p -u -g -s -h -D -F -t -r -U -v -C -n -A -S -N -q -x -J -L= -I= -P= --dirsfirst --noreport --gitignore ' +
      '--prune --du --si --inodes --filelimit= --charset= --sort= --ignore-case --matchdirs --filesfirst',
    operands: 'paths',
  },
  printf: {
    options: '',
    operands: 'text',
    findWordsRisk: ([format = '']) =>
      format.startsWith('-') ? `“${format}” is not known to be harmless` : findPrintfRisk(format),
  },
  test: { options: '', operands: 'none', findWordsRisk: findTestCommandRisk },
  '[': { options: '', operands: 'none', findWordsRisk: findBracketCommandRisk },
  ':': { options: '', operands: 'text' },
  type: { options: '-a -t -p -P', operands: 'text' },
  'command -v': { options: '', operands: 'text' },
  'command -V': { options: '', operands: 'text' },
  whereis: { options: '-b -m', operands: 'text' },
  sleep: { options: '', operands: 'text', maxOperands: 1, operandPattern: /^\d{1,3}(?:\.\d+)?s?$/ },
  seq: { options: '-w -s= -f=', operands: 'text' },
  tac: { options: '-b -s= --separator=', operands: 'paths' },
  rev: { options: '', operands: 'paths' },
  fold: { options: '-b -s -w= --bytes --spaces --width=', operands: 'paths' },
  expand: { options: '-i -t= --tabs=', operands: 'paths' },
  paste: { options: '-d= -s -z --delimiters= --serial', operands: 'paths' },
  column: { options: '-t -s= -o= -n -c= -x -N= -R= --table --separator= --output-separator=', operands: 'paths' },
  comm: {
    options: '-1 -2 -3 -z --check-order --nocheck-order --total --output-delimiter=',
    operands: 'paths',
    maxOperands: 2,
  },
  join: { options: '-a= -e= -i -j= -o= -t= -v= -1= -2= --header', operands: 'paths', maxOperands: 2 },
  cmp: { options: '-b -i= -l -n= -s --print-bytes --silent --quiet --verbose', operands: 'paths', maxOperands: 2 },
  od: { options: '-A= -c -d -j= -N= -o -s -t= -v -w? -x', operands: 'paths' },
  hexdump: { options: '-b -c -C -d -n= -o -s= -v -x', operands: 'paths' },
  strings: { options: '-a -n= -t= -e=', operands: 'paths', expandsArgumentFiles: true },
  readlink: { options: '-e -f -m -n -z --canonicalize', operands: 'paths' },
  ...shareSpec('md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum, cksum, sum', {
    options: '-b -t -z --binary --text --tag --zero',
    operands: 'paths',
  }),
  shasum: { options: '-a= -b -t', operands: 'paths' },
  xxd: { options: '-b -c= -g= -l= -p -s= -u', operands: 'paths', maxOperands: 1 },
  base64: { options: '-w= -d -i --wrap= --decode', operands: 'paths', maxOperands: 1 },
  zcat: { options: '', operands: 'paths' },
  // Left out: -x, -X and -l run programs; -L follows links.
  ...shareSpec('fd, fdfind', {
    options:
      '-e= -t= -d= -E= -H -I -g -i -s -a -p -0 --extension= --type= --max-depth= --min-depth= --exclude= --hidden --no-ignore ' +
      '--glob --ignore-case --case-sensitive --absolute-path --full-path --print0 --max-results= --size= --changed-within=',
    operands: 'pattern',
  }),
  // Left out: --pager and --paging run a program.
  ...shareSpec('bat, batcat', {
    options:
      '-n -p -P -A -l= -r= -H= --number --plain --show-all --language= --line-range= --highlight-line= --style= --color= ' +
      '--decorations= --wrap= --tabs= --theme= --list-languages --list-themes',
    operands: 'paths',
  }),
  // Left out: --git reads the configuration of the repository; -X and --dereference follow links.
  ...shareSpec('exa, eza', {
    options:
      '-1 -l -G -x -F -R -T -a -d -r -s= -D -f -b -B -g -h -H -i -m -n -S -t= -u -U -L= -I= --oneline --long --grid --across ' +
      '--classify? --recurse --tree --all --list-dirs --reverse --sort= --only-dirs --only-files --binary --bytes --group ' +
      '--header --inode --level= --ignore-glob= --group-directories-first --no-permissions --no-filesize --no-user --no-time ' +
      '--color= --icons? --time-style=',
    operands: 'paths',
  }),
  fmt: { options: '-c -s -t -u -w= --width= --uniform-spacing --split-only', operands: 'paths' },
  // It prints counts, no content.
  tokei: { options: '-f -C -s= -t= -e= --files --compact --sort= --types= --exclude= --hidden', operands: 'paths' },
  vmstat: { options: '-s -d -w -S=', operands: 'text', operandPattern: /^\d{1,2}$/, maxOperands: 2 },
  lsblk: { options: '-a -f -l -m -p -J -o= -t', operands: 'none' },
  getconf: { options: '-a', operands: 'text', operandPattern: /^[A-Z_0-9]+$/, maxOperands: 1 },
  yamllint: { options: '-f= -s --format= --strict', operands: 'paths' },
  shellcheck: { options: '-s= -e= -f= -S= -i= --shell= --exclude= --format= --severity=', operands: 'paths' },
  // Without a name it prints all variables, including keys.
  printenv: {
    options: '',
    operands: 'none',
    findWordsRisk: (words) =>
      /^(?:HOME|PATH|PWD|USER|SHELL|LANG)$/.test(words.join(' ')) ? undefined : 'it may print variables that hold keys',
  },
  'ulimit -a': { options: '', operands: 'none' },
  whoami: { options: '', operands: 'none' },
  id: { options: '-u -g -G -n -r -z', operands: 'text' },
  groups: { options: '', operands: 'text' },
  uname: { options: '-a -s -n -r -v -m -p -i -o --all --kernel-name --kernel-release --machine', operands: 'none' },
  arch: { options: '', operands: 'none' },
  nproc: { options: '--all --ignore=', operands: 'none' },
  hostname: { options: '-s -I', operands: 'none' },
  uptime: { options: '-p -s', operands: 'none' },
  free: { options: '-b -k -m -g -h -t -w', operands: 'none' },
  df: { options: '-a -h -H -i -k -l -P -T --human-readable --total --output?', operands: 'paths' },
  locale: { options: '-a', operands: 'none' },
  lscpu: { options: '', operands: 'none' },
  cal: { options: '', operands: 'text' },
  // Bash parses the text without running it.
  ...shareSpec('bash -n, sh -n', { options: '', operands: 'paths', maxOperands: 1, operandPattern: /^[^-+]/ }),
  // An archive name with a colon would be on another machine.
  ...shareSpec('tar tf, tar -tf, tar tzf, tar -tzf, tar tvf, tar -tvf, tar tjf, tar tJf, jar tf', {
    options: '',
    operands: 'paths',
    operandPattern: /^[^:-][^:]*$/,
    expandsArgumentFiles: true,
  }),
  'unzip -l': { options: '', operands: 'paths', maxOperands: 1 },
  zipinfo: { options: '-1 -2 -s -m -l -h -t -z', operands: 'paths', maxOperands: 1 },
  ...shareSpec('gofmt -l, gofmt -d', { options: '-s', operands: 'paths' }),
  ...withVersionRiskCheck({
    'go env': { options: '-json', operands: 'text', operandPattern: /^[A-Z0-9_]+$/ },
    ...shareSpec('npm ls, npm list', {
      options: '-a -g -l --all --depth= --long --json --parseable --omit= --global',
      operands: 'text',
    }),
    ...shareSpec('npm root, npm prefix', { options: '-g', operands: 'none' }),
    'npm pkg get': { options: '', operands: 'text' },
    'npm config get': {
      options: '',
      operands: 'text',
      operandPattern: /^(?:registry|prefix|cache|userconfig|globalconfig)$/,
      maxOperands: 1,
    },
    ...shareSpec('npm explain, npm why', { options: '--json', operands: 'text' }),
    'npm run': { options: '--json', operands: 'none' },
    ...shareSpec('pip list, pip3 list', {
      options: '-l -e --local --editable --not-required --format= --user',
      operands: 'none',
    }),
    ...shareSpec('pip freeze, pip3 freeze', { options: '-l --local --user --all', operands: 'none' }),
    ...shareSpec('pip check, pip3 check', { options: '', operands: 'none' }),
    ...shareSpec('pip show, pip3 show', { options: '-f -v --files --verbose', operands: 'text' }),
    'rustc -vV': { options: '', operands: 'none' },
    'rustc --print': { options: '', operands: 'text', maxOperands: 1, operandPattern: /^[a-z-]+$/ },
    'cargo --list': { options: '', operands: 'none' },
  }),
  'rustup toolchain list': { options: '-v', operands: 'none' },
  'rustup target list': { options: '--installed', operands: 'none' },
})

/** Ripgrep skips hidden and ignored files, unless a `--glob` includes them. */
function toRipgrepWalk({ options, paths }: ParsedArguments): FolderWalk {
  const patterns = options
    .filter(({ name, value }) => /^(?:-g|--glob)$/.test(name) && !value?.startsWith('!'))
    .map(({ value = '' }) => value.slice(value.lastIndexOf('/') + 1))
  const isNamed = patterns.length > 0
  // A complex pattern may include anything.
  const isPlain = patterns.every((pattern) => /^[\w.*?-]+$/.test(pattern) && !pattern.includes('**'))
  return {
    roots: paths.length > 0 ? paths : ['.'],
    readsHidden: isNamed,
    usesIgnoreFiles: !isNamed,
    followsLinks: false,
    isRecursive: true,
    ...(isNamed && isPlain && { only: (name: string) => patterns.some((pattern) => matchesGlob(name, pattern)) }),
  }
}

/** With `-r`, grep reads everything below its folders except excluded names. It does not follow links. */
function toGrepWalk(args: ParsedArguments): FolderWalk | undefined {
  if (!hasOption(args, '-r', '--recursive')) return undefined
  const valuesOf = (name: string) => args.options.flatMap((one) => (one.name === name ? [one.value ?? ''] : []))
  const without = new Set(valuesOf('--exclude-dir'))
  const only = valuesOf('--include').map((pattern) => /^(\*?)([\w.@-]+)$/.exec(pattern))
  return {
    roots: args.paths.length > 0 ? args.paths : ['.'],
    readsHidden: true,
    usesIgnoreFiles: false,
    followsLinks: false,
    isRecursive: true,
    without: (name) => without.has(name),
    // After --exclude, --include adds files and excludes none.
    ...(only.length > 0 &&
      only.every(Boolean) &&
      !hasOption(args, '--exclude') && {
        only: (name) => only.some((match) => (match?.[1] === '' ? name === match[2] : name.endsWith(match?.[2] ?? ''))),
      }),
  }
}
