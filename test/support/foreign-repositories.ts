import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './paths.ts'

const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
    if (text.startsWith('#!')) chmodSync(join(folder, name), 0o755)
  }
}

const SKILL_FILES = {
  'release/SKILL.md':
    '---\nname: release\ndescription: SKILL-ABOUT how a release is made\nallowed-tools: Bash(sh:*), Read\n---\n# Release\nSKILL-TEXT: run scripts/number.sh first.\n',
  'release/scripts/number.sh': '#!/bin/sh\necho "SCRIPT-SAYS $((40 + 2))"\n',
}

/** A hook adds context to the prompt, another leaves a file when a tool was used. */
const HOOK_SCRIPT = '#!/bin/sh\ncat > /dev/null\necho "HOOK-SAYS hello"\n'
const HOOKED_SCRIPT = '#!/bin/sh\ncat > hooked.json\n'

function createHooks(prompt: string, tool: string, matcher: string, folder: string) {
  const run = (file: string) => [{ type: 'command', command: `sh ${folder}/${file}` }]
  return { [prompt]: [{ hooks: run('prompt.sh') }], [tool]: [{ matcher, hooks: run('tool.sh') }] }
}

const AGENT = '---\nname: checker\ndescription: AGENT-ABOUT checks the work\n---\nAGENT-TEXT: check it.\n'

function place(prefix: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${prefix}/${name}`, text]))
}

const server = { command: process.execPath, args: [FIXTURE, 'advises'] }

/** What people have for Claude Code, in a project and at home. */
export function writeClaudeRepository(work: string, home: string): void {
  writeFiles(work, {
    'CLAUDE.md': 'RULE-OF-PROJECT: small steps. See @docs/style.md for the style.\n',
    'docs/style.md': 'RULE-IMPORTED: two blanks.\n',
    'src/deep/CLAUDE.md': 'RULE-NESTED: here be dragons.\n',
    'src/deep/a.txt': 'content of a\n',
    'notes.txt': 'NOTES-CONTENT\n',
    '.claude/commands/git/commit.md':
      '---\ndescription: make a commit\nargument-hint: "[message]"\nallowed-tools: Bash(echo:*)\n---\nCOMMAND-TEXT first $1, second $2, all ($ARGUMENTS).\nState: !`echo out-$1`\nSee @notes.txt\n',
    ...place('.claude/skills', SKILL_FILES),
    '.mcp.json': JSON.stringify({ mcpServers: { pond: server } }),
    '.claude/settings.json': JSON.stringify({
      permissions: {
        allow: ['Bash(npm run test:*)', 'Frobnicate(x)'],
        deny: ['Read(./secrets/**)'],
        ask: ['WebFetch'],
      },
      hooks: createHooks('UserPromptSubmit', 'PostToolUse', 'Bash', '.claude/hooks'),
      statusLine: { type: 'command', command: 'x' },
    }),
    '.claude/hooks/prompt.sh': HOOK_SCRIPT,
    '.claude/hooks/tool.sh': HOOKED_SCRIPT,
    '.claude/agents/checker.md': AGENT,
  })
  writeFiles(home, {
    '.claude.json': JSON.stringify({ mcpServers: { brook: { command: 'brook-server' } } }),
    '.claude/settings.json': JSON.stringify({ permissions: { allow: ['Bash(git log:*)'] }, model: 'opus' }),
    '.claude/commands/hello.md': 'HELLO-COMMAND',
  })
}

/** The same for Gemini CLI. */
export function writeGeminiRepository(work: string, home: string): void {
  writeFiles(work, {
    'GEMINI.md': 'RULE-OF-PROJECT: small steps. @./docs/style.md\n',
    'docs/style.md': 'RULE-IMPORTED: two blanks.\n',
    'src/deep/GEMINI.md': 'RULE-NESTED: here be dragons.\n',
    'src/deep/a.txt': 'content of a\n',
    'notes.txt': 'NOTES-CONTENT\n',
    '.gemini/commands/git/commit.toml':
      'description = "make a commit"\nprompt = """\nCOMMAND-TEXT first fix, second two words, all ({{args}}).\nState: !{echo out-fix}\n@{notes.txt}\n"""\n',
    ...place('.gemini/skills', SKILL_FILES),
    '.gemini/settings.json': JSON.stringify({
      mcpServers: { pond: server },
      tools: { allowed: ['run_shell_command(echo)', 'run_shell_command(npm test)'], sandbox: true },
      hooks: createHooks('BeforeAgent', 'AfterTool', 'run_shell_command', '.gemini/hooks'),
    }),
    '.gemini/hooks/prompt.sh': HOOK_SCRIPT,
    '.gemini/hooks/tool.sh': HOOKED_SCRIPT,
    '.gemini/agents/checker.md': AGENT,
  })
  writeFiles(home, {
    '.gemini/settings.json': JSON.stringify({ general: { vimMode: true }, ui: { theme: 'x' } }),
    '.gemini/commands/hello.toml': 'prompt = "HELLO-COMMAND"',
    '.gemini/GEMINI.md': '## Gemini Added Memories\n- FACT-OF-GEMINI\n',
  })
}

/** The same for Codex. */
export function writeCodexRepository(work: string, home: string): void {
  writeFiles(work, {
    'AGENTS.md': 'RULE-OF-PROJECT: small steps. @docs/style.md\n',
    'docs/style.md': 'RULE-IMPORTED: two blanks.\n',
    'src/deep/AGENTS.md': 'RULE-NESTED: here be dragons.\n',
    'src/deep/a.txt': 'content of a\n',
    'notes.txt': 'NOTES-CONTENT\n',
    ...place('.agents/skills', SKILL_FILES),
    '.codex/hooks.json': JSON.stringify({
      hooks: createHooks('UserPromptSubmit', 'PostToolUse', 'Bash', '.codex/hooks'),
    }),
    '.codex/hooks/prompt.sh': HOOK_SCRIPT,
    '.codex/hooks/tool.sh': HOOKED_SCRIPT,
    '.agents/agents/checker.md': AGENT,
  })
  writeFiles(home, {
    '.codex/config.toml': `model_reasoning_effort = "high"\napproval_policy = "never"\n\n[mcp_servers.pond]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [\n  ${JSON.stringify(FIXTURE)},\n  'advises', # as it is\n]\n`,
    '.codex/prompts/hello.md': 'HELLO-COMMAND',
    '.codex/prompts/git-commit.md':
      '---\ndescription: make a commit\n---\nCOMMAND-TEXT first $1, second $2, all ($ARGUMENTS).\nState: out-$1\nSee @notes.txt\n',
  })
}
