import { splitWords } from '../text.ts'

/**
 * A file of a project that later runs something unasked, or that decides what may run. The policy asks before such a file
 * is written, and the sandbox makes it read-only: both use this one list.
 */
export interface ProtectedPath {
  /** From the top of a project, or from any folder in it. `*` matches part of a name, `/**` at the end everything below. */
  readonly path: string
  /** What the sandbox protects, where commands must write the rest: git must be able to commit. Default: the whole path. */
  readonly guardedParts?: readonly string[]
  /** It contains instructions for a model, and no settings. */
  readonly isInstructions?: true
  /** It has this meaning in a home folder only. */
  readonly isHomeOnly?: true
}

export const PROTECTED_PATHS: readonly ProtectedPath[] = [
  // Version control runs hooks, and programs that its settings name.
  {
    path: '.git/**',
    guardedParts: splitWords(`
      .git/hooks .git/config .git/commondir .git/config.worktree .git/modules .git/worktrees/*/commondir
      .git/worktrees/*/config.worktree .git/worktrees/*/gitdir
    `),
  },
  { path: '.hg/**', guardedParts: ['.hg/hgrc', '.hg/hgrc-not-shared', '.hg/sharedpath'] },
  { path: '.jj/**', guardedParts: ['.jj/repo/config.toml', '.jj/config.toml'] },
  { path: '.sl/**', guardedParts: ['.sl/config', '.sl/sharedpath'] },
  ...protectAll(`
    .githooks/** .husky/** .gitmodules .pre-commit-config.yaml .overcommit.yml lefthook.y*ml .lefthook.y*ml
    lefthook.toml lefthook.json
  `),

  // Editors, and some shells, run these when a folder is opened.
  ...protectAll(`
    .devcontainer/** .envrc .exrc .fleet/** .idea/** .nvim.lua .vscode/** .zed/** *.code-workspace
    .devcontainer.json .dir-locals.el .lvimrc .nvim/** .nvimrc .vimrc mise.toml .mise.toml mise.*.toml
    .mise.*.toml .mise/** devbox.json
  `),

  // Settings of agents decide what the next session may do; ours first.
  ...protectAll(`
    .dragoman/** .agents/** .amazonq/** .claude/** .claude.json .clinerules/** .codex/** .continue/**
    .cursor/** .gemini/** .junie/** .kilocode/** .kiro/** .mcp.json .opencode/** .qwen/** .roo/** .rules
    .windsurf/** .aider* .amp/** .augment/** .claude-plugin/** .cline/** .codebuddy/** .copilot/** .crush/**
    .crush.json crush.json .cursorrules .factory/** .goose/** .iflow/** .kilo/** .kilocodemodes .openhands/**
    .roomodes .trae/** .warp/** .windsurfrules mcp.json opencode.json opencode.jsonc
  `),
  ...protectAll(
    `
      AGENTS.md CLAUDE.md GEMINI.md AGENT.md AGENTS.override.md AGENTS.local.md CLAUDE.local.md QWEN.md
      WARP.md .goosehints .augment-guidelines .github/copilot-instructions.md .github/instructions/**
      .github/prompts/** .github/chatmodes/** .github/agents/**
    `,
    { isInstructions: true },
  ),

  // CI servers run these, with their own credentials.
  ...protectAll(`
    .circleci/** .github/actions/** .github/workflows/** .gitlab-ci.yml .forgejo/workflows/**
    .gitea/workflows/** .buildkite/** .builds/** .build.yml .cirrus.yml .drone.yml .gitlab/ci/** .semaphore/**
    .teamcity/** .travis.yml .woodpecker/** .woodpecker.yml Jenkinsfile appveyor.yml .appveyor.yml
    azure-pipelines.yml bitbucket-pipelines.yml buildspec.yml
  `),

  // Package managers run what these name, or fetch packages from where these say.
  ...protectAll(`
    .cargo/config .cargo/config.toml .npmrc .pnpmfile.cjs .pnpmfile.mjs .yarnrc .yarnrc.yml .yarn/plugins/**
    .yarn/releases/** bunfig.toml pip.conf uv.toml .pypirc
  `),

  // Start-up files of shells, desktops and editors in a home folder, and folders of the search path.
  ...protectAll(
    `
      .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .cache/dragoman/** .cargo/bin/**
      .config/autostart/** .config/dragoman/** .config/fish/** .config/git/** .config/goose/** .config/mise/**
      .config/nvim/** .config/opencode/** .config/pip/** .config/systemd/** .gitconfig .gnupg/** .inputrc
      .local/bin/** .local/share/dragoman/** .netrc .profile .ssh/** .tmux.conf .zlogin .zlogout .zprofile
      .zshenv .zshrc Library/LaunchAgents/**
    `,
    { isHomeOnly: true },
  ),
]

function protectAll(paths: string, meaning?: Omit<ProtectedPath, 'path'>): ProtectedPath[] {
  return splitWords(paths).map((path) => ({ path, ...meaning }))
}
