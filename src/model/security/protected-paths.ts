/**
 * The files of a project that run something later without anybody asking for it, or that decide what may run. The policy
 * asks before any of them is written, and the sandbox keeps commands from writing them: both read this one list.
 */
export interface ProtectedPath {
  /** From the top of a project, or from any folder in it. `*` stands for part of a name, `/**` at the end for all below. */
  readonly path: string
  /** What the sandbox guards of it, where commands need the rest: git must be able to commit. The path itself if absent. */
  readonly guardedParts?: readonly string[]
  /** It holds instructions for a model, and no settings. */
  readonly isInstructions?: true
  /** It has this meaning in a home folder only. */
  readonly isHomeOnly?: true
}

/** All of them. */
export const PROTECTED_PATHS: readonly ProtectedPath[] = [
  // Version control runs hooks, and programs that its settings name.
  {
    path: '.git/**',
    guardedParts: [
      '.git/hooks',
      '.git/config',
      '.git/commondir',
      '.git/config.worktree',
      '.git/modules',
      '.git/worktrees/*/commondir',
      '.git/worktrees/*/config.worktree',
      '.git/worktrees/*/gitdir',
    ],
  },
  { path: '.hg/**', guardedParts: ['.hg/hgrc', '.hg/hgrc-not-shared', '.hg/sharedpath'] },
  { path: '.jj/**', guardedParts: ['.jj/repo/config.toml', '.jj/config.toml'] },
  { path: '.sl/**', guardedParts: ['.sl/config', '.sl/sharedpath'] },
  ...toProtectedPaths('.githooks/**', '.husky/**'),
  ...toProtectedPaths(
    '.gitmodules',
    '.pre-commit-config.yaml',
    '.overcommit.yml',
    'lefthook.y*ml',
    '.lefthook.y*ml',
    'lefthook.toml',
    'lefthook.json',
  ),

  // Editors, and some shells, run these when a folder is opened.
  ...toProtectedPaths(
    '.devcontainer/**',
    '.envrc',
    '.exrc',
    '.fleet/**',
    '.idea/**',
    '.nvim.lua',
    '.vscode/**',
    '.zed/**',
  ),
  ...toProtectedPaths(
    '*.code-workspace',
    '.devcontainer.json',
    '.dir-locals.el',
    '.lvimrc',
    '.nvim/**',
    '.nvimrc',
    '.vimrc',
  ),
  ...toProtectedPaths('mise.toml', '.mise.toml', 'mise.*.toml', '.mise.*.toml', '.mise/**', 'devbox.json'),

  // Settings of agents decide what the next session may do; ours first.
  ...toProtectedPaths('.dragoman/**', '.agents/**', '.amazonq/**', '.claude/**', '.claude.json'),
  ...toProtectedPaths(
    '.clinerules/**',
    '.codex/**',
    '.continue/**',
    '.cursor/**',
    '.gemini/**',
    '.junie/**',
    '.kilocode/**',
  ),
  ...toProtectedPaths('.kiro/**', '.mcp.json', '.opencode/**', '.qwen/**', '.roo/**', '.rules', '.windsurf/**'),
  ...toProtectedPaths(
    '.aider*',
    '.amp/**',
    '.augment/**',
    '.claude-plugin/**',
    '.cline/**',
    '.codebuddy/**',
    '.copilot/**',
  ),
  ...toProtectedPaths(
    '.crush/**',
    '.crush.json',
    'crush.json',
    '.cursorrules',
    '.factory/**',
    '.goose/**',
    '.iflow/**',
  ),
  ...toProtectedPaths(
    '.kilo/**',
    '.kilocodemodes',
    '.openhands/**',
    '.roomodes',
    '.trae/**',
    '.warp/**',
    '.windsurfrules',
  ),
  ...toProtectedPaths('mcp.json', 'opencode.json', 'opencode.jsonc'),
  ...toProtectedPaths('AGENTS.md', 'CLAUDE.md', 'GEMINI.md').map(markAsInstructions),
  ...toProtectedPaths('AGENT.md', 'AGENTS.override.md', 'AGENTS.local.md', 'CLAUDE.local.md', 'QWEN.md', 'WARP.md').map(
    markAsInstructions,
  ),
  ...toProtectedPaths('.goosehints', '.augment-guidelines', '.github/copilot-instructions.md').map(markAsInstructions),
  ...toProtectedPaths('.github/instructions/**', '.github/prompts/**', '.github/chatmodes/**', '.github/agents/**').map(
    markAsInstructions,
  ),

  // Servers run these with keys of their own.
  ...toProtectedPaths('.circleci/**', '.github/actions/**', '.github/workflows/**', '.gitlab-ci.yml'),
  ...toProtectedPaths('.forgejo/workflows/**', '.gitea/workflows/**'),
  ...toProtectedPaths('.buildkite/**', '.builds/**', '.build.yml', '.cirrus.yml', '.drone.yml', '.gitlab/ci/**'),
  ...toProtectedPaths(
    '.semaphore/**',
    '.teamcity/**',
    '.travis.yml',
    '.woodpecker/**',
    '.woodpecker.yml',
    'Jenkinsfile',
  ),
  ...toProtectedPaths(
    'appveyor.yml',
    '.appveyor.yml',
    'azure-pipelines.yml',
    'bitbucket-pipelines.yml',
    'buildspec.yml',
  ),

  // Package managers run what these name, or fetch packages from where these say.
  ...toProtectedPaths('.cargo/config', '.cargo/config.toml', '.npmrc', '.pnpmfile.cjs', '.pnpmfile.mjs', '.yarnrc'),
  ...toProtectedPaths(
    '.yarnrc.yml',
    '.yarn/plugins/**',
    '.yarn/releases/**',
    'bunfig.toml',
    'pip.conf',
    'uv.toml',
    '.pypirc',
  ),

  // What shells, desktops and editors read of a home folder, and where programs are looked for.
  ...[
    '.bash_aliases',
    '.bash_login',
    '.bash_logout',
    '.bash_profile',
    '.bashrc',
    '.cache/dragoman/**',
    '.cargo/bin/**',
    '.config/autostart/**',
    '.config/dragoman/**',
    '.config/fish/**',
    '.config/git/**',
    '.config/goose/**',
    '.config/mise/**',
    '.config/nvim/**',
    '.config/opencode/**',
    '.config/pip/**',
    '.config/systemd/**',
    '.gitconfig',
    '.gnupg/**',
    '.inputrc',
    '.local/bin/**',
    '.local/share/dragoman/**',
    '.netrc',
    '.profile',
    '.ssh/**',
    '.tmux.conf',
    '.zlogin',
    '.zlogout',
    '.zprofile',
    '.zshenv',
    '.zshrc',
    'Library/LaunchAgents/**',
  ].map((path): ProtectedPath => ({ path, isHomeOnly: true })),
]

function toProtectedPaths(...all: readonly string[]): ProtectedPath[] {
  return all.map((path) => ({ path }))
}

function markAsInstructions(path: ProtectedPath): ProtectedPath {
  return { ...path, isInstructions: true }
}
