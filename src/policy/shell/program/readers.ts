import type { Form } from './form.ts'

/** Programs that only look, with their harmless options. */
export const READERS: Readonly<Record<string, Form>> = {
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
    options: '-# -c= -n= -q -v -z --bytes= --lines= --quiet --silent --verbose --zero-terminated',
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
    most: 1,
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
  date: { options: '-u -R -I? -d= --utc --iso-8601? --rfc-3339= --date=', operands: 'none' },
  diff: {
    options:
      '-a -b -B -c -C= -d -e -i -n -N -p -q -s -t -u -U= -w -W= -y --brief --unified? --context? --side-by-side ' +
      '--ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --color? --width= --text',
    operands: 'paths',
    most: 2,
  },
  grep: {
    options:
      '-# -a -A= -b -B= -c -C= -e= -E -F -G -h -H -i -I -l -L -m= -n -o -P -q -s -v -w -x -z --after-context= ' +
      '--before-context= --binary-files= --byte-offset --color? --colour? --context= --count --extended-regexp ' +
      '--files-with-matches --files-without-match --fixed-strings --ignore-case --no-ignore-case --invert-match ' +
      '--line-number --line-regexp --max-count= --no-filename --no-messages --null --only-matching --perl-regexp ' +
      '--quiet --silent --regexp= --text --with-filename --word-regexp',
    operands: 'pattern',
    instead: ['-e', '--regexp'],
  },
  // Not: --pre and --hostname-bin run programs, -z does too, --hidden and -u look into files of secrets, -L follows links.
  rg: {
    options:
      '-# -a -A= -b -B= -c -C= -d= -e= -f@ -F -g% -H -i -I -j= -l -m= -M= -n -N -o -p -P -q -r= -s -S -t= -T= -U -v -w -x ' +
      '-0 -E= --after-context= --before-context= --binary --block-buffered --byte-offset --case-sensitive --color= ' +
      '--colors= --column --context= --context-separator= --count --count-matches --crlf --dfa-size-limit= --encoding= ' +
      '--engine= --field-context-separator= --field-match-separator= --file@ --files --files-with-matches ' +
      '--files-without-match --fixed-strings --glob% --heading --help --ignore-case --ignore-file@ --include-zero --invert-match ' +
      '--json --line-buffered --line-number --line-regexp --max-columns= --max-columns-preview --max-count= --max-depth= ' +
      '--max-filesize= --mmap --multiline --multiline-dotall --no-column --no-config --no-context-separator --no-filename ' +
      '--no-heading --no-line-number --no-messages --no-mmap --no-unicode --null --null-data --one-file-system ' +
      '--only-matching --passthru --path-separator= --pcre2 --pcre2-version --pretty --quiet --regex-size-limit= --regexp= ' +
      '--replace= --smart-case --sort= --sortr= --stats --stop-on-nonmatch --text --threads= --trim --type= --type-list ' +
      '--type-not= --version --vimgrep --with-filename --word-regexp',
    operands: 'pattern',
    instead: ['-e', '--regexp', '-f', '--file', '--files', '--type-list', '--pcre2-version', '--version', '--help'],
  },
}
