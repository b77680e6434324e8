import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

export const MCP_COMMAND = {
  summary: 'manage MCP servers: add, remove, list, test, approve, login, logout, import',
  usage: ['<add | add-json | remove | list | test | approve | login | logout | import> [options]'],
  about: [
    'MCP servers (Model Context Protocol) provide tools. They are configured under “mcpServers” in the settings, in the format of other MCP clients.',
    'A local server runs in the sandbox, with a clean environment, unless it is trusted. Its tools need approval unless a rule allows them, for example github__* for all tools of the server github.',
  ],
  options: {
    project: { about: 'add, remove, import: use the settings of this folder instead of your own' },
    scope: {
      short: 's',
      takes: '<scope>',
      from: ['user', 'project'],
      about: 'add, remove: your own settings, or those of this folder (like --project)',
    },
    env: {
      short: 'e',
      takes: '<name=value>',
      many: true,
      about: 'add: environment variable of the server; $NAME: one of yours',
    },
    header: { short: 'H', takes: '<name: value>', many: true, about: 'add: header of every request to the server' },
    type: {
      short: 't',
      aliases: ['transport'],
      valueAliases: { 'streamable-http': 'http' },
      takes: '<type>',
      from: ['stdio', 'http', 'sse'],
      about: 'add: transport; default: detected',
    },
    timeout: { takes: '<ms>', about: 'add: timeout of a call in milliseconds' },
    trust: { about: 'add: run its tools without approval, and the server outside the sandbox' },
    include: { takes: '<list>', about: 'add: use only these tools' },
    exclude: { takes: '<list>', about: 'add: do not use these tools' },
    from: {
      takes: '<program>',
      from: ['gemini', 'claude', 'vscode', 'cursor'],
      about: 'import: use the settings of this program',
    },
    yes: { about: 'import: do not ask' },
    json: { about: 'list, test: print JSON' },
    ...HELP_OPTION,
  },
  subcommands: {
    add: {
      takes: '<name> [--] <command or URL> [arguments]',
      about: 'add a server to the settings, connect to it once, and show its tools',
      options: ['project', 'scope', 'env', 'header', 'type', 'timeout', 'trust', 'include', 'exclude'],
      examples: [
        'dragoman mcp add memory -- npx -y @modelcontextprotocol/server-memory',
        "dragoman mcp add team https://mcp.example.com/mcp --header 'Authorization: Bearer $TOKEN'",
      ],
    },
    'add-json': {
      takes: '<name> <JSON>',
      about: 'add a server from its settings in JSON, as other agents have them',
      options: ['project', 'scope'],
      examples: [`dragoman mcp add-json memory '{"command":"npx","args":["-y","server-memory"]}'`],
    },
    remove: {
      takes: '<name>',
      about: 'remove a server from the settings',
      options: ['project', 'scope'],
      examples: ['dragoman mcp remove memory'],
    },
    list: {
      about: 'connect to all servers and show their status and tools',
      options: ['json'],
      examples: ['dragoman mcp list', 'dragoman mcp list --json'],
    },
    test: {
      takes: '<name> [tool] [arguments as JSON]',
      about: 'connect to a server and show what it offers, or call one of its tools',
      options: ['json'],
      examples: ['dragoman mcp test memory', `dragoman mcp test memory search_nodes '{"query":"heron"}'`],
    },
    approve: {
      takes: '<name>',
      about: 'accept the tools of a server that have changed since you approved them',
      options: [],
      examples: ['dragoman mcp approve memory'],
    },
    login: {
      takes: '<name>',
      about: 'sign in to a server with the browser',
      options: [],
      examples: ['dragoman mcp login github'],
    },
    logout: {
      takes: '<name>',
      about: 'remove the sign-in of a server',
      options: [],
      examples: ['dragoman mcp logout github'],
    },
    import: {
      takes: '[file]',
      about: 'import the servers of Gemini CLI, Claude Code, VS Code or Cursor',
      options: ['from', 'project', 'yes'],
      positional: 'file',
      examples: ['dragoman mcp import --from claude', 'dragoman mcp import .vscode/mcp.json'],
    },
  },
} as const satisfies CliCommandSpec
