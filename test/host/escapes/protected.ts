import type { Escape } from './escape.ts'

const write = (path: string): string => `mkdir -p "$(dirname ${path})"; echo evil > ${path}`
const together = (name: string, paths: readonly string[]): Escape => ({ name, commands: [paths.map(write).join('; ')] })

/** Onto files of the workspace that run something later. */
export const PROTECTED: readonly Escape[] = [
  together('settings of editors', ['.vscode/tasks.json', '.idea/workspace.xml', '.zed/tasks.json', '.fleet/run.json']),
  together('files that editors run', ['.nvim.lua', '.exrc', '.vimrc', '.nvimrc', '.dir-locals.el', '.lvimrc']),
  together('a workspace file', ['any.code-workspace', '.devcontainer.json', '.devcontainer/devcontainer.json']),
  together('files that shells run', ['.envrc', 'mise.toml', '.mise.toml', 'mise.local.toml', '.mise/tasks/x']),
  together('settings of agents', [
    '.claude/settings.json',
    '.codex/config.toml',
    '.cursor/mcp.json',
    '.gemini/settings.json',
  ]),
  together('more settings of agents', [
    '.agents/skills/x',
    '.windsurf/x',
    '.kiro/x',
    '.roo/x',
    '.opencode/x',
    '.mcp.json',
  ]),
  together('rarer settings of agents', [
    '.crush.json',
    '.goose/x',
    '.augment/x',
    '.trae/x',
    '.factory/x',
    '.aider.conf.yml',
  ]),
  together('our own settings', ['.dragoman/config.json', '.dragoman/hooks/x']),
  together('instructions', [
    'AGENTS.md',
    'CLAUDE.md',
    'GEMINI.md',
    'QWEN.md',
    '.rules',
    '.cursorrules',
    'CLAUDE.local.md',
  ]),
  together('instructions of servers', [
    '.github/copilot-instructions.md',
    '.github/instructions/x.md',
    '.github/prompts/x',
  ]),
  together('CI of the common kinds', ['.github/workflows/x.yml', '.gitlab-ci.yml', '.circleci/config.yml']),
  together('CI of other kinds', [
    '.forgejo/workflows/x',
    '.gitea/workflows/x',
    'Jenkinsfile',
    '.travis.yml',
    '.drone.yml',
  ]),
  together('package managers of JavaScript', ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml']),
  together('package managers of other languages', ['.cargo/config.toml', '.cargo/config', 'pip.conf', 'uv.toml']),
  together('hooks of git that programs manage', [
    '.husky/pre-commit',
    '.githooks/x',
    'lefthook.yml',
    '.pre-commit-config.yaml',
  ]),
  together('other version control', ['.hg/hgrc', '.jj/repo/config.toml', '.sl/config', '.gitmodules']),
  { name: 'a hook of git', git: true, commands: ['echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'] },
  {
    name: 'a hook where there is no folder for it',
    git: true,
    before: 'rm -rf .git/hooks',
    commands: [write('.git/hooks/x')],
  },
  { name: 'git config', git: true, commands: ['git config core.fsmonitor evil; git config --local alias.x "!evil"'] },
  {
    name: 'the lock of git config',
    git: true,
    commands: ['echo evil > .git/config.lock; mv -f .git/config.lock .git/config'],
  },
  {
    name: 'git config by another name',
    git: true,
    commands: ['ln .git/config c; echo evil >> c; cp .git/config .git/c; mv -T .git/c .git/config'],
  },
  { name: 'git config by removal', git: true, commands: ['rm -f .git/config; echo evil > .git/config'] },
  { name: 'git config of the worktree', git: true, commands: ['echo evil > .git/config.worktree'] },
  {
    name: 'the common folder of git',
    git: true,
    commands: ['mkdir evil; cp .git/config evil; echo ../evil > .git/commondir'],
  },
  {
    name: 'settings of a submodule',
    git: true,
    before: 'mkdir -p .git/modules/sub/hooks; echo kept > .git/modules/sub/config',
    commands: ['echo evil > .git/modules/sub/config; echo evil > .git/modules/sub/hooks/x'],
  },
  { name: 'a new submodule', git: true, commands: ['mkdir -p .git/modules/new; echo evil > .git/modules/new/config'] },
  {
    name: 'another worktree',
    git: true,
    before: 'mkdir -p .git/worktrees/w; echo ../.. > .git/worktrees/w/commondir; echo x > .git/worktrees/w/gitdir',
    commands: [
      'echo evil > .git/worktrees/w/commondir; echo evil > .git/worktrees/w/gitdir; mv .git/worktrees .git/w2',
    ],
  },
  {
    name: '.git moved away and made anew',
    git: true,
    commands: ['mv .git old && cp -r old .git && echo evil > .git/config', 'echo evil > .git/config'],
  },
  {
    name: 'a whole repository copied over',
    git: true,
    commands: ['cp -r .git new; echo evil > new/config; rm -rf .git; mv new .git'],
  },
  {
    name: 'git init over what is there',
    git: true,
    commands: ['mkdir tpl; echo evil > tpl/config; git init --template=tpl; git init --separate-git-dir=elsewhere'],
  },
  {
    name: 'an existing file in a protected folder',
    before: 'mkdir .vscode; echo kept > .vscode/tasks.json',
    commands: ['echo evil > .vscode/tasks.json; rm -rf .vscode; mv .vscode x'],
  },
  {
    name: 'an existing file of instructions',
    before: 'echo kept > AGENTS.md; echo kept > .npmrc',
    commands: ['echo evil >> AGENTS.md; sed -i s/kept/evil/ .npmrc; mv AGENTS.md x; echo evil > AGENTS.md'],
  },
  {
    name: 'other letters',
    before: 'mkdir .VSCode; echo kept > .VSCode/tasks.json',
    commands: ['echo evil > .VSCode/tasks.json'],
  },
  {
    name: 'a missing path removed',
    commands: [
      'rmdir .vscode; rm -rf .vscode; mkdir .vscode; echo evil > .vscode/tasks.json',
      write('.vscode/tasks.json'),
    ],
  },
  {
    name: 'a missing path renamed',
    commands: ['mv .vscode v; mv -T v .vscode; mkdir v2; mv -T v2 .vscode; echo evil > .vscode/tasks.json'],
  },
  {
    name: 'a missing path exchanged atomically',
    commands: [
      '"$PYTHON" -c "import ctypes; ctypes.CDLL(None).syscall(316, -100, b\'src\', -100, b\'.vscode\', 2)"; echo evil > .vscode/x',
    ],
  },
  {
    name: 'a missing path unmounted',
    commands: ['umount .vscode; umount -l .vscode; fusermount -u .vscode; echo evil > .vscode/x'],
  },
  {
    name: 'a missing path with other rights',
    commands: ['chmod 777 .vscode; echo evil > .vscode/tasks.json; chattr -i .vscode'],
  },
  {
    name: 'a missing path in two commands',
    commands: [
      'ls -A .vscode; rm -rf .vscode/.* .claude; rmdir .vscode; mkdir .claude; echo evil > .claude/x',
      write('.vscode/tasks.json'),
    ],
  },
  {
    name: 'a protected path of the person',
    commands: ['mkdir -p deploy; echo evil > deploy/x; echo evil > deploy.yml'],
  },
]
