import type { Escape } from './escape.ts'

const NAMES = '.vscode .claude .agents .cursor .zed .github/workflows .cargo .husky .circleci'
const FILES = 'AGENTS.md .npmrc .envrc .mcp.json mise.toml Jenkinsfile .gitmodules x.code-workspace .yarnrc.yml'
const writeAll = `for d in ${NAMES}; do mkdir -p $d; echo evil > $d/config.toml; done; for f in ${FILES}; do echo evil > $f; done`

/** By what goes on after the command has ended. */
export const BACKGROUND: readonly Escape[] = [
  { name: 'once, after the shell has ended', commands: [`(sleep 0.5; ${writeAll}) 2>/dev/null & :`], lingers: 1200 },
  { name: 'all the time', commands: [`(while :; do ${writeAll}; sleep 0.02; done) 2>/dev/null & :`], lingers: 800 },
  {
    name: 'while other commands come and go',
    commands: [`(while :; do ${writeAll}; sleep 0.02; done) 2>/dev/null & :`, 'true', 'sleep 0.4', 'true'],
    lingers: 400,
  },
  {
    name: 'from a session of its own',
    commands: [`setsid bash -c '${writeAll}; sleep 0.4; ${writeAll}' >/dev/null 2>&1 & :`],
    lingers: 1000,
  },
  {
    name: 'without its variables',
    commands: [`env -i PATH="$PATH" setsid bash -c 'sleep 0.4; ${writeAll}' >/dev/null 2>&1 & :`],
    lingers: 1000,
  },
  {
    name: 'deaf to signals',
    commands: [`(trap "" TERM HUP INT; sleep 0.4; ${writeAll}; sleep 30) 2>/dev/null & :`],
    lingers: 900,
  },
  { name: 'after a double fork', commands: [`((sleep 0.4; ${writeAll}) &) >/dev/null 2>&1; :`], lingers: 1000 },
  {
    name: 'from a folder that was opened before',
    commands: [`(cd src; sleep 0.4; cd ..; ${writeAll}) 2>/dev/null & :`],
    lingers: 1000,
  },
  {
    name: 'with a descriptor of a file that is renamed later',
    commands: ['echo x > plain; (exec 7>>plain; sleep 0.3; mv plain .npmrc; echo evil >&7) & :'],
    lingers: 900,
  },
  {
    name: 'by renaming a folder that is ready',
    commands: [
      'mkdir -p ready/workflows; echo evil > ready/workflows/x.yml; (sleep 0.3; mv -T ready .github; mv -T ready .forgejo) & :',
    ],
    lingers: 900,
  },
  {
    name: 'in git',
    git: true,
    commands: [
      '(sleep 0.4; echo evil > .git/hooks/x; echo evil > .git/config; echo evil > .git/commondir; echo evil > .git/config.worktree) & :',
    ],
    lingers: 1000,
  },
  {
    name: 'onto /tmp and our folders',
    commands: [
      '(sleep 0.4; mv "$SCRATCH/tmp" "$SCRATCH/x"; ln -s "$H" "$SCRATCH/tmp"; ln -sfn "$H" /tmp/l) & :',
      'sleep 0.6',
      'echo evil > /tmp/pwned; cat /tmp/.ssh/id_rsa',
    ],
    lingers: 100,
  },
  {
    name: 'a server of tools that writes all the time',
    asServer: true,
    commands: [`for i in 1 2 3 4 5; do ${writeAll}; sleep 0.1; done 2>/dev/null`],
  },
  {
    name: 'a server of tools that goes on in the background',
    asServer: true,
    commands: [`(for i in 1 2 3 4 5; do ${writeAll}; sleep 0.1; done) >/dev/null 2>&1 & sleep 0.2`],
  },
]
