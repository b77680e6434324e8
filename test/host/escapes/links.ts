import type { Escape } from './escape.ts'

/** Through links that we follow when we tidy up, or mount, for the next command. */
export const LINKS: readonly Escape[] = [
  ...['.forgejo', '.gitea', '.cargo', '.github', '.hg', '.jj', '.yarn', '.gitlab'].map((name): Escape => {
    const inner = { '.cargo': 'config.toml', '.hg': 'hgrc', '.jj': 'repo', '.yarn': 'plugins', '.gitlab': 'ci' }[name]
    return {
      name: `a folder outside is renamed through ${name}`,
      before: `mkdir -p "$OUT/${inner ?? 'workflows'}"; echo kept > "$OUT/${inner ?? 'workflows'}/kept"`,
      commands: [`rm -rf ${name}; ln -s "$OUT" ${name}`, 'true'],
    }
  }),
  {
    name: 'a file outside is renamed because its name is protected',
    before: 'echo kept > "$OUT/config.toml"',
    commands: ['mkdir .cargo; cd .cargo && ln -s "$OUT/config.toml" config.toml', 'mv .cargo old; ln -s "$OUT" .cargo'],
  },
  {
    name: 'a link that is put back leads out',
    before: 'ln -s "$OUT" .vscode',
    commands: ['rm .vscode; mkdir .vscode; echo evil > .vscode/pwned', 'echo evil > .vscode/pwned'],
  },
  {
    name: 'the target of a protected link is exchanged',
    before: 'mkdir editor; ln -s editor .vscode',
    commands: ['mv editor other; ln -s "$OUT" editor', 'echo evil > .vscode/pwned; echo evil > editor/tasks.json'],
  },
  {
    name: 'what was set aside before is in the way',
    commands: [
      'mkdir -p .npmrc.set-aside/x; echo evil > .npmrc; ln -s "$OUT" .yarnrc.set-aside; echo evil > .yarnrc',
      'true',
    ],
  },
  {
    name: 'a folder with content in the place of a file that is set aside',
    commands: ['mkdir -p mise.toml/a bunfig.toml/b lefthook.yml/c; echo evil > mise.toml/a/x', 'true'],
  },
  {
    name: 'the workspace itself exchanged for a link',
    commands: ['cd ..; mv "$OLDPWD" moved; ln -s "$OUT" "$OLDPWD"', 'echo evil > pwned'],
  },
  {
    name: 'a folder of the workspace that a command starts in',
    commands: ['mv src old; ln -s "$OUT" src', 'cd src && echo evil > pwned'],
  },
  {
    name: '.git exchanged for a link, so that it is mounted',
    git: true,
    commands: ['mv .git old; ln -s "$H" .git', 'echo evil > .git/.bashrc; cat .git/.ssh/id_rsa'],
  },
  {
    name: '.git exchanged for a pointer to a repository elsewhere',
    git: true,
    commands: ['mv .git old; echo "gitdir: $OUT/repo" > .git', 'git config core.pager evil'],
  },
  {
    name: 'a worktree that claims a repository outside',
    before:
      'mkdir -p "$OUT/repo/worktrees/w" "$OUT/repo/refs" "$OUT/repo/objects"; echo ../.. > "$OUT/repo/worktrees/w/commondir"; echo elsewhere > "$OUT/repo/worktrees/w/gitdir"',
    commands: [
      'echo "gitdir: $OUT/repo/worktrees/w" > .git',
      'echo evil > "$OUT/repo/objects/pwned"; echo evil > "$OUT/repo/worktrees/w/pwned"',
    ],
  },
  {
    name: 'a folder on the search path becomes a link into the home folder',
    before: 'mkdir -p node_modules/.bin',
    onPath: 'node_modules/.bin',
    commands: ['rm -rf node_modules/.bin; ln -s "$H/private" node_modules/.bin', 'cat "$H/private/notes"; ls "$H"'],
  },
  {
    name: 'a cache in a home folder that is the workspace becomes a link out',
    atHome: true,
    network: true,
    commands: [
      'mv .npm old; mkdir .npm; ln -s "$OUT" .npm/_cacache',
      'echo evil > .npm/_cacache/pwned; echo evil > "$OUT/pwned"',
    ],
  },
  {
    name: 'the folder above a key is moved, so that it is no longer known',
    atHome: true,
    commands: ['mv .config elsewhere', 'cat elsewhere/gcloud/key elsewhere/dragoman/config.json .config/gcloud/key'],
  },
  {
    name: 'a link to a key is exchanged, so that its target is no longer known',
    atHome: true,
    before: 'mkdir dotfiles; echo canary-linked > dotfiles/netrc; rm -f .netrc; ln -s dotfiles/netrc .netrc',
    commands: ['rm -f .netrc; echo x > .netrc', 'cat dotfiles/netrc'],
  },
  {
    name: 'hard links to files outside',
    commands: ['ln "$OUT/secret.txt" hard && echo evil > hard; ln "$H/.ssh/id_rsa" key && cat key'],
  },
  {
    name: 'names that are flipped while the next command starts',
    git: true,
    commands: [
      '(for i in $(seq 4000); do mv .github g1; ln -s "$H" .github; rm -f .github; mv g1 .github; done) 2>/dev/null & mkdir -p .github; :',
      'cat .github/.ssh/id_rsa; echo evil > .github/pwned',
      'cat .github/.ssh/id_rsa; echo evil > .github/pwned',
    ],
  },
]
