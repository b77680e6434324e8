import type { Escape } from './escape.ts'

const COMMIT = 'git -c user.name=a -c user.email=a@b.example commit -q --allow-empty -m x'
/** The person has a repository with a commit. */
const START = `git add README.md; ${COMMIT}`
/** They use git afterwards, at the top. */
const AFTER = `git status; git diff; for d in x sub .; do [ -e $d/.git ] && (cd $d; ${COMMIT}); done`
const EVIL = 'core.fsmonitor "touch $OUT/pwned; false"'
const HOOK = 'printf "#!/bin/sh\\ntouch $OUT/pwned\\n"'
const make = (folder: string): string => `git init -q ${folder} && (cd ${folder} && ${COMMIT})`
/** A repository that is the person's, inside of theirs. */
const INSIDE = `${START}; ${make('sub')}`
const NAMED = `${INSIDE}; git -c advice.addEmbeddedRepo=false add sub; ${COMMIT}`

/** What a command makes. */
const MADE: Readonly<Record<string, readonly string[]>> = {
  'made and named': [`${make('x')}; git -C x config ${EVIL}; git add x`],
  'made, and named by the next command': [`${make('x')}; git -C x config ${EVIL}`, 'git add x'],
  'made and named, settings later': [`${make('x')}; git add x`, `git -C x config ${EVIL}`],
  'with a hook': [
    `${make('x')}; git add x; mkdir -p x/.git/hooks; ${HOOK} > x/.git/hooks/post-commit; chmod +x x/.git/hooks/*`,
  ],
  'in an index in two parts': [`${make('x')}; git -C x config ${EVIL}; git add x; git update-index --split-index`],
  'in an index of version 4': [`${make('x')}; git -C x config ${EVIL}; git add x; git update-index --index-version 4`],
  'that lies elsewhere': [
    `${make('x')}; git add x; mv x/.git store; echo "gitdir: ../store" > x/.git; git config -f store/config ${EVIL}`,
  ],
  'in a repository in a repository': [
    `${make('x')}; (cd x; ${make('y')}; git add y); git -C x/y config ${EVIL}; git add x`,
  ],
  'with settings that are a link': [
    `${make('x')}; mv x/.git/config c; ln -s ../../c x/.git/config; git config -f c ${EVIL}; git add x`,
  ],
  'by a process in the background': [
    `(sleep 0.3; ${make('x')}; git -C x config ${EVIL}; git add x) >/dev/null 2>&1 & :`,
  ],
}

/** What a command does to a repository of the person. */
const CHANGED: Readonly<Record<string, string>> = {
  settings: `git -C sub config ${EVIL}`,
  'a hook': `mkdir -p sub/.git/hooks; ${HOOK} > sub/.git/hooks/post-commit; chmod +x sub/.git/hooks/*`,
  'another in its place': `mv sub old; ${make('sub')}; git -C sub config ${EVIL}`,
  'another .git': `mv sub/.git old; ${make('new')}; git -C new config ${EVIL}; mv new/.git sub/.git`,
  'settings elsewhere': `cp -r sub/.git c; git config -f c/config ${EVIL}; echo ../../c > sub/.git/commondir`,
}

/** git at the top of a workspace goes into the repositories that its index names, and runs what their settings say. */
export const INNER: readonly Escape[] = [
  ...Object.entries(MADE).map(([name, commands]): Escape => ({
    name: `a repository ${name}`,
    git: true,
    before: START,
    commands,
    after: AFTER,
    ...(name.includes('background') && { lingers: 1000 }),
  })),
  ...Object.entries(CHANGED).flatMap(([name, command]): Escape[] => [
    { name: `one of the person, named: ${name}`, git: true, before: NAMED, commands: [command], after: AFTER },
    { name: `one of the person: ${name}`, git: true, before: INSIDE, commands: [command], after: `cd sub; ${AFTER}` },
  ]),
]
