/**
 * What in a workspace can run something later, outside of the sandbox, without anybody asking for it: there commands may
 * read but never write, be it there yet or not. Paths are relative to a workspace folder; a name stands for all below it.
 */
export const PROTECTED: readonly string[] = [
  // Git runs hooks, and programs that its settings name.
  '.git/hooks',
  '.git/config',
  '.git/config.worktree',
  '.githooks',
  '.husky',
  // Settings of agents: they decide what the next session may do.
  '.dragoman',
  // Its compiled code runs when it is started the next time.
  '.cache/dragoman',
  '.amazonq',
  '.claude',
  '.claude.json',
  '.clinerules',
  '.codex',
  '.continue',
  '.cursor',
  '.gemini',
  '.junie',
  '.kilocode',
  '.kiro',
  '.mcp.json',
  '.opencode',
  '.qwen',
  '.roo',
  '.windsurf',
  // Editors, and some shells, run these when a folder is opened.
  '.devcontainer',
  '.envrc',
  '.fleet',
  '.idea',
  '.vscode',
  '.zed',
  // Servers run these with keys of their own.
  '.circleci',
  '.github/actions',
  '.github/workflows',
  '.gitlab-ci.yml',
]

/** The same where somebody works in the home folder itself: what shells and desktops read when they start. */
export const PROTECTED_AT_HOME: readonly string[] = [
  '.bash_aliases',
  '.bash_login',
  '.bash_logout',
  '.bash_profile',
  '.bashrc',
  '.config/autostart',
  '.config/fish',
  '.config/git',
  '.config/systemd',
  '.gitconfig',
  '.inputrc',
  '.profile',
  '.zlogin',
  '.zprofile',
  '.zshenv',
  '.zshrc',
]

/**
 * What is protected if it is there, and set aside afterwards if a command has made it. These are read by somebody who asks
 * for it, or seldom met: a folder in the place of each would only confuse. Git does not even work with a `commondir` that
 * says nothing.
 */
export const NEVER_NEW: readonly string[] = [
  '.git/commondir',
  '.hg/hgrc',
  '.aider.conf.yml',
  '.augment',
  '.buildkite',
  '.cline',
  '.copilot',
  '.crush.json',
  '.cursorrules',
  '.devcontainer.json',
  '.drone.yml',
  '.exrc',
  '.forgejo/workflows',
  '.gitea/workflows',
  '.github/copilot-instructions.md',
  '.github/instructions',
  '.goose',
  '.goosehints',
  '.kilo',
  '.kilocodemodes',
  '.lefthook.yml',
  '.npmrc',
  '.nvimrc',
  '.pnpmfile.cjs',
  '.pre-commit-config.yaml',
  '.roomodes',
  '.trae',
  '.travis.yml',
  '.vimrc',
  '.windsurfrules',
  '.woodpecker',
  '.woodpecker.yml',
  '.yarnrc',
  '.yarnrc.yml',
  'AGENTS.md',
  'AGENTS.override.md',
  'CLAUDE.local.md',
  'CLAUDE.md',
  'GEMINI.md',
  'Jenkinsfile',
  'QWEN.md',
  'azure-pipelines.yml',
  'bitbucket-pipelines.yml',
  'lefthook.yml',
  'mcp.json',
  'opencode.json',
  'opencode.jsonc',
]
