// Loaded for errors only: the start of a run does not need it.
import { UnknownOptionError } from './parse-command-line.ts'

/** An option of another agent is answered with what to do instead. */
export function explainOption(error: unknown): unknown {
  const name = error instanceof UnknownOptionError ? error.option.replace(/^--?/, '') : ''
  if (!(error instanceof UnknownOptionError) || !Object.hasOwn(OTHER_OPTIONS, name)) return error
  return new UnknownOptionError(error.option, 'dragoman', OTHER_OPTIONS[name] ?? '')
}

/** Options of Claude Code, Codex and Gemini CLI that do not exist here. */
const OTHER_OPTIONS: Readonly<Record<string, string>> = {
  'ask-for-approval': 'use --approval-mode default, auto_edit or yolo',
  'full-auto': 'use --approval-mode auto_edit; commands run in the sandbox',
  'dangerously-bypass-approvals-and-sandbox': 'use --yolo --sandbox off',
  'allow-dangerously-skip-permissions': 'use --yolo, or /mode yolo in a session',
  'permission-prompt-tool': 'use --allowed-tools, or a PreToolUse hook (docs/hooks.md)',
  tools: 'use --allowed-tools and --disallowed-tools',
  'skip-trust': 'run dragoman trust in the folder',
  json: 'use --output-format stream-json',
  'experimental-json': 'use --output-format stream-json',
  'input-format': 'pass the prompt with -p or on standard input; programs can use dragoman acp or the library',
  'include-partial-messages': '--output-format stream-json has them always',
  'include-hook-events': '--output-format stream-json has what hooks say',
  'replay-user-messages': '--output-format stream-json has them always',
  'output-last-message': 'write the output into a file: dragoman -p "…" > file',
  'append-system-prompt-file': 'use --append-system-prompt "$(cat file)"',
  settings: 'edit the settings; dragoman config path names the file',
  'setting-sources': 'edit the settings; dragoman config path names the files',
  profile: 'edit the settings; dragoman config path names the file',
  config: 'edit the settings; dragoman config path names the file',
  enable: 'edit the settings; dragoman config path names the file',
  disable: 'edit the settings; dragoman config path names the file',
  'fallback-model': 'use --model first,second',
  oss: 'use --model ollama/<model>',
  search: 'the model has a tool for web searches',
  image: 'write @picture.png in the prompt',
  i: 'write the prompt without an option, and @picture.png in it for an image',
  'prompt-interactive': 'write the prompt without an option: dragoman "…"',
  'session-id': 'ids are made here; --resume <session> continues one',
  'fork-session': 'use --fork <session> instead of --resume <session>',
  last: 'use --continue',
  'list-sessions': 'run dragoman sessions list',
  'delete-session': 'run dragoman sessions rm <session>',
  agent: 'name the agent in the prompt; /agents lists them',
  agents: 'write them into .dragoman/agents (docs/subagents.md)',
  'strict-mcp-config': 'disable servers in the settings (docs/mcp.md)',
  'allowed-mcp-server-names': 'disable servers in the settings (docs/mcp.md)',
  'mcp-debug': 'run dragoman mcp test <server>',
  debug: 'use --trace <file> for timings, --record <folder> for requests and responses',
  d: 'use --trace <file> for timings, --record <folder> for requests and responses',
  checkpointing: 'file changes are always kept for dragoman undo and /rewind',
  acp: 'run dragoman acp',
  'experimental-acp': 'run dragoman acp',
  ide: 'run dragoman acp in the editor (docs/editors.md)',
  'screen-reader': 'set "screenReader": true in the settings',
  policy: 'write the rules into “policy” of the settings (docs/permissions.md)',
  extensions: 'there are no extensions',
  e: 'there are no extensions',
  'list-extensions': 'there are no extensions',
  'plugin-dir': 'there are no plugins; skills, agents, commands and hooks work without them',
  worktree: 'use git worktree add, and --cwd <folder>',
  w: 'use git worktree add, and --cwd <folder>',
  'skip-git-repo-check': 'leave it out: no repository is needed',
  ephemeral: 'use --no-session',
  color: 'set NO_COLOR=1 for output without colours',
  s: 'use --sandbox auto, on or off',
  chrome: 'there is no browser; use an MCP server for one',
  remote: 'there are no remote sessions; see docs/server.md',
}

/** Commands of other agents. */
const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  resume: 'use dragoman --resume [session]',
  fork: 'use dragoman --fork [session]',
  review: 'use dragoman -p /review',
  apply: 'changes are in the files at once; dragoman undo takes them back',
  agents: 'start a session and type /agents',
  skills: 'start a session and type /skills',
  hooks: 'start a session and type /hooks',
  extensions: 'there are no extensions; MCP servers are added with dragoman mcp add',
  extension: 'there are no extensions; MCP servers are added with dragoman mcp add',
  plugin: 'there are no plugins; skills, agents, commands and hooks work without them',
  plugins: 'there are no plugins; skills, agents, commands and hooks work without them',
  sandbox: 'use --sandbox auto, on or off',
  features: 'run dragoman config show',
  settings: 'run dragoman config show',
  permissions: 'start a session and type /permissions',
  cloud: 'there are no remote sessions; see docs/server.md',
  update: 'update the clone: git pull, then npm install -g .',
  upgrade: 'update the clone: git pull, then npm install -g .',
  install: 'run npm install -g . in the clone',
  auth: 'run dragoman login',
  'setup-token': 'run dragoman login',
}

const SUBCOMMANDS: ReadonlySet<string> = new Set(
  'list ls install add remove rm uninstall enable disable update new link migrate validate login logout status marketplace'.split(
    ' ',
  ),
)

/** What to do instead of a command of another agent; undefined if the words may be a prompt. */
export function describeOtherCommand(name: string, next?: string): string | undefined {
  if (!Object.hasOwn(OTHER_COMMANDS, name) || (next !== undefined && !SUBCOMMANDS.has(next))) return undefined
  return OTHER_COMMANDS[name]
}
