import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

/** `dragoman mcp`. */
export const MCP_COMMAND = {
  usage: ['<add | remove | list | test | approve | login | logout | import> [options]'],
  about: [
    'Servers of the Model Context Protocol offer tools. They stand under “mcpServers” in the settings, in the form that other programs use too.',
    'A server that is a program runs in the sandbox unless it is trusted, with a clean environment. Its tools are asked about unless a rule allows them, like github__* for all tools of the server github.',
  ],
  options: {
    project: { about: 'add, remove, import: in the settings of this folder instead of your own' },
    env: { takes: '<name=value>', many: true, about: 'add: a variable for it; $NAME stands for one of yours' },
    header: { takes: '<name: value>', many: true, about: 'add: a header for every request to it' },
    type: { takes: '<kind>', from: ['stdio', 'http', 'sse'], about: 'add: how to speak with it, if that is not clear' },
    timeout: { takes: '<ms>', about: 'add: how long a call may take' },
    trust: { about: 'add: its tools run unasked, and it runs outside the sandbox' },
    include: { takes: '<list>', about: 'add: only these of its tools' },
    exclude: { takes: '<list>', about: 'add: all but these of its tools' },
    from: {
      takes: '<program>',
      from: ['gemini', 'claude', 'vscode', 'cursor'],
      about: 'import: from the settings of this program',
    },
    yes: { about: 'import: without asking' },
    json: { about: 'list, test: as JSON' },
    ...HELP_OPTION,
  },
  subcommands: {
    add: {
      takes: '<name> [--] <command or address> [arguments]',
      about: 'adds a server to the settings, connects to it once, and shows its tools',
      options: ['project', 'env', 'header', 'type', 'timeout', 'trust', 'include', 'exclude'],
      examples: [
        'dragoman mcp add memory -- npx -y @modelcontextprotocol/server-memory',
        'dragoman mcp add team https://mcp.example.com/mcp --header "Authorization: Bearer $TOKEN"',
      ],
    },
    remove: {
      takes: '<name>',
      about: 'removes a server from the settings',
      options: ['project'],
      examples: ['dragoman mcp remove memory'],
    },
    list: {
      about: 'connects to all servers, and shows how it stands with them and their tools',
      options: ['json'],
      examples: ['dragoman mcp list', 'dragoman mcp list --json'],
    },
    test: {
      takes: '<name> [tool] [arguments as JSON]',
      about: 'connects to a server and shows what it offers; or calls one of its tools',
      options: ['json'],
      examples: ['dragoman mcp test memory', `dragoman mcp test memory search_nodes '{"query":"heron"}'`],
    },
    approve: {
      takes: '<name>',
      about: 'takes the tools of a server as they are now, after they have changed',
      options: [],
      examples: ['dragoman mcp approve memory'],
    },
    login: {
      takes: '<name>',
      about: 'signs in to a server in the browser',
      options: [],
      examples: ['dragoman mcp login github'],
    },
    logout: {
      takes: '<name>',
      about: 'forgets a sign-in',
      options: [],
      examples: ['dragoman mcp logout github'],
    },
    import: {
      takes: '[file]',
      about: 'takes over the servers of Gemini CLI, Claude Code, VS Code or Cursor',
      options: ['from', 'project', 'yes'],
      positional: 'file',
      examples: ['dragoman mcp import --from claude', 'dragoman mcp import .vscode/mcp.json'],
    },
  },
  examples: [
    'dragoman mcp add memory -- npx -y @modelcontextprotocol/server-memory',
    'dragoman mcp list',
    'dragoman mcp import --from gemini',
  ],
} as const satisfies CliCommandSpec
