import { EFFORT_LEVELS, type EffortLevel } from '../../model/request.ts'
import type { SandboxMode } from '../../host/sandbox/sandbox.ts'
import type { GatewayRoute } from '../../gateway/routing-table.ts'
import type { JsonObject } from '../../model/json.ts'
import { type ApprovalMode, APPROVAL_MODE_NAMES } from '../../policy/policy.ts'
import { RUN_OPTIONS } from '../args/options.ts'
import { SCOPES, type TenantConfig } from '../../server/http/tenants.ts'
import type { AcpAgentConfig } from '../../acp/client/delegate-tool.ts'
import type { McpServerConfig } from '../../tool/mcp/client/server-config.ts'

/** The content of a config file. `CONFIG_SCHEMA` describes the fields. */
export interface Config {
  readonly $schema?: string
  readonly model?: string
  readonly fallback?: readonly string[]
  readonly approvalMode?: ApprovalMode
  readonly sandbox?: SandboxMode
  readonly sandboxOptions?: SandboxConfig
  readonly providers?: Readonly<Record<string, JsonObject>>
  readonly policy?: PolicyConfig
  /** By folder. Used only in the user's own settings, never in a project's. */
  readonly projects?: Readonly<Record<string, ProjectConfig>>
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>
  /** More folders of skills: npm packages and folders of a project in its own settings, any folder in the user's. */
  readonly skills?: readonly string[]
  /** Other agents that speak the Agent Client Protocol, by name. */
  readonly acpAgents?: Readonly<Record<string, AcpAgentConfig>>
  readonly search?: SearchConfig
  readonly telemetry?: TelemetryConfig
  /** Used only in the user's own settings and in those of the machine, never in a project's. */
  readonly server?: ServerConfig
  readonly gateway?: GatewayConfig
  readonly compression?: { readonly share?: number }
  /** In seconds, all attempts together. */
  readonly requestTimeout?: number
  /** By event, in the format of Claude Code. */
  readonly hooks?: JsonObject
  readonly selfCorrect?: boolean
  readonly cacheDiagnosis?: boolean
  readonly editor?: string
  readonly theme?: 'auto' | 'dark' | 'light' | 'none'
  readonly vim?: boolean
  readonly screenReader?: boolean
  readonly notifications?: 'auto' | 'bell' | 'osc9' | 'osc777' | 'off'
  readonly terminalTitle?: boolean
  /** Used only in the user's own settings, never in a project's. */
  readonly statusLine?: string
  /** Used only in the user's own settings, never in a project's. */
  readonly keepBackgroundCommands?: boolean
  /** By `provider/model`, where `*` stands for any text. */
  readonly models?: Readonly<Record<string, GenerationConfig>>
  /** By `provider/model`. */
  readonly catalog?: Readonly<Record<string, JsonObject>>
}

/** How a model generates its answers. */
export interface GenerationConfig {
  readonly effort?: EffortLevel | number
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
}

/** What `dragoman gateway` does with the requests of other agents. */
export interface GatewayConfig {
  readonly routes?: readonly GatewayRoute[]
  readonly passKeys?: readonly string[]
  readonly maxCostPerDay?: number
}

export interface ProjectConfig {
  readonly policy?: PolicyConfig
  readonly sandboxOptions?: Pick<SandboxConfig, 'allowNetwork' | 'allowOutside'>
  /** Its hooks run outside the sandbox. */
  readonly trustHooks?: boolean
}

export interface SandboxConfig {
  readonly writeCaches?: boolean
  readonly network?: boolean
  readonly allowNetwork?: readonly string[]
  readonly allowOutside?: readonly string[]
  /** Limits in megabytes: of all processes of a command, and of one file that it writes. */
  readonly memory?: number
  readonly fileSize?: number
}

export interface PolicyConfig {
  readonly allow?: readonly RuleConfig[]
  readonly ask?: readonly RuleConfig[]
  readonly deny?: readonly RuleConfig[]
  /** Files that need approval to write or to read, beside the built-in ones. */
  readonly protectedWrites?: readonly string[]
  readonly secretFiles?: readonly string[]
}

/** A rule, with examples that are checked when it is loaded. */
export type RuleConfig =
  | string
  | { readonly rule: string; readonly matches?: readonly string[]; readonly spares?: readonly string[] }

interface SearchConfig {
  readonly service: 'brave' | 'tavily' | 'searxng'
  readonly url?: string
  readonly key?: string
}

/** Who may use `dragoman serve`, and how much. */
export interface ServerConfig {
  readonly tenants?: Readonly<Record<string, TenantConfig>>
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly instructions?: string
}

export interface TelemetryConfig {
  readonly endpoint?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly prompts?: boolean
}

const stringSchema = (description: string): JsonObject => ({ type: 'string', minLength: 1, description })
const booleanSchema = (description: string): JsonObject => ({ type: 'boolean', description })
const enumSchema = (description: string, values: readonly string[]): JsonObject => ({
  type: 'string',
  enum: [...values],
  description,
})
const listSchema = (description: string, items: JsonObject): JsonObject => ({ type: 'array', items, description })
const stringListSchema = (description: string): JsonObject => listSchema(description, { type: 'string' })
const mapSchema = (description: string, additionalProperties: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties,
  description,
})
const stringMapSchema = (description: string): JsonObject => mapSchema(description, { type: 'string' })
const objectSchema = (description: string, properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  description,
  properties,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
})

const rulesSchema = (description: string): JsonObject => ({
  type: 'array',
  description,
  items: {
    anyOf: [
      { type: 'string', minLength: 1 },
      objectSchema(
        'A rule with examples, which are checked when the rule is loaded.',
        {
          rule: stringSchema('The rule, for example run_shell_command(git status).'),
          matches: stringListSchema('Calls that the rule must cover.'),
          spares: stringListSchema('Calls that the rule must not cover.'),
        },
        ['rule'],
      ),
    ],
  },
})

const mcpServerSchema = objectSchema('An MCP server.', {
  command: stringSchema('Program to start.'),
  args: stringListSchema('Arguments of the program.'),
  env: stringMapSchema('Additional environment variables; $NAME is replaced by a variable of yours.'),
  cwd: stringSchema('Working directory of the program.'),
  url: stringSchema('URL of a running server. Set type to sse for the older protocol.'),
  httpUrl: stringSchema('URL of a server that uses Streamable HTTP.'),
  type: enumSchema('Transport.', ['stdio', 'http', 'sse', 'streamable-http']),
  headers: stringMapSchema('Headers of every request; $NAME is replaced by a variable of yours.'),
  timeout: { type: 'number', exclusiveMinimum: 0, description: 'Timeout of a call in milliseconds; default 600000.' },
  trust: booleanSchema('Runs the server outside the sandbox, and its tools without approval.'),
  network: booleanSchema('Whether the server can reach the network from the sandbox; default true.'),
  includeTools: stringListSchema('Use only these tools.'),
  excludeTools: stringListSchema('Do not use these tools.'),
  description: stringSchema('Description for people.'),
  disabled: booleanSchema('Do not start this server.'),
  oauth: objectSchema('OAuth client that you registered yourself, for services without dynamic client registration.', {
    clientId: stringSchema('Client id.'),
    clientSecret: stringSchema('Client secret, if there is one; $NAME is replaced by a variable of yours.'),
    scopes: stringListSchema('Scopes to request.'),
    hosts: stringListSchema('Hosts in your private network (`name` or `name:port`) that the sign-in may use.'),
  }),
})

const acpAgentSchema = objectSchema(
  'An agent that speaks the Agent Client Protocol. The model gets a tool delegate_<name>.',
  {
    command: stringSchema('Program to start.'),
    args: stringListSchema('Arguments of the program.'),
    env: stringMapSchema('Additional environment variables; $NAME is replaced by a variable of yours.'),
    description: stringSchema('What the agent is good for. The model reads it.'),
    timeout: { type: 'number', exclusiveMinimum: 0, description: 'Seconds that a task may take; default unlimited.' },
  },
  ['command'],
)

const countSchema = (description: string): JsonObject => ({ type: 'integer', minimum: 1, description })
const priceSchema = (description: string): JsonObject => ({ type: 'number', minimum: 0, description })

const modelInfoSchema = objectSchema('Data of a model.', {
  window: countSchema('Context window in tokens.'),
  output: countSchema('Maximum tokens of one response.'),
  abilities: listSchema('Capabilities.', { type: 'string', enum: ['tools', 'vision', 'reasoning'] }),
  price: objectSchema(
    'US dollars per million tokens.',
    {
      input: priceSchema('Input tokens.'),
      output: priceSchema('Output tokens.'),
      cacheRead: priceSchema('Input tokens read from the cache; default: input.'),
      cacheWrite: priceSchema('Input tokens written to the cache; default: input.'),
      reasoning: priceSchema('Reasoning tokens; default: output.'),
    },
    ['input', 'output'],
  ),
})

const generationSchema = objectSchema('Settings of a model.', {
  effort: {
    anyOf: [
      { type: 'string', enum: [...EFFORT_LEVELS] },
      { type: 'integer', minimum: 1 },
    ],
    description: 'How much the model thinks: a level, or a number of tokens. Default: what the model likes.',
  },
  temperature: { type: 'number', minimum: 0, maximum: 2, description: 'Sampling temperature.' },
  topP: { type: 'number', minimum: 0, maximum: 1, description: 'Nucleus sampling.' },
  maxOutputTokens: countSchema('The longest response, in tokens.'),
})

const accessRuleSchemas = {
  allowNetwork: stringListSchema(
    'Rules for commands that can reach the network from the sandbox, for example npm install *.',
  ),
  allowOutside: stringListSchema(
    'Rules for commands that run outside the sandbox. They still need approval or an allow rule.',
  ),
}

const policySchema = objectSchema(
  'Rules for tool calls. The strictest rule that matches decides: deny, then ask, then allow.',
  {
    allow: rulesSchema('Calls that run without approval.'),
    ask: rulesSchema('Calls that always need approval.'),
    deny: rulesSchema('Calls that are refused.'),
    protectedWrites: stringListSchema('Additional files that are never written without approval.'),
    secretFiles: stringListSchema('Additional files that are never read without approval.'),
  },
)

const dollarsSchema = (description: string): JsonObject => ({ type: 'number', exclusiveMinimum: 0, description })

const gatewayRouteSchema = objectSchema(
  'Which model answers what clients ask for.',
  {
    match: stringSchema('Model that a client asks for; * stands for any text.'),
    client: stringSchema('Only for this client: claude, codex, gemini, …'),
    to: {
      anyOf: [{ type: 'string', minLength: 1 }, stringListSchema('Models in the order of fallback.')],
      description: 'provider/model that answers; each of a list only if the one before cannot answer.',
    },
    maxCostPerDay: dollarsSchema('Limit in US dollars per day for each client.'),
    concurrency: countSchema('Requests at the same time; others wait.'),
  },
  ['match', 'to'],
)

const properties: Record<keyof Config, JsonObject> = {
  $schema: { type: 'string' },
  model: stringSchema('Default model, as provider/model.'),
  fallback: stringListSchema('Models to use when the model cannot answer, in this order.'),
  approvalMode: enumSchema('Which calls run without approval.', APPROVAL_MODE_NAMES),
  sandbox: enumSchema(
    'Whether commands run in a sandbox. auto: if one is available. on: refuse to run without.',
    RUN_OPTIONS.sandbox.from,
  ),
  sandboxOptions: objectSchema('Limits and permissions of commands in the sandbox.', {
    writeCaches: booleanSchema(
      'Commands and MCP servers with network access write the package caches in your home folder instead of private ones.',
    ),
    network: booleanSchema('Commands in the sandbox can reach the network.'),
    ...accessRuleSchemas,
    memory: countSchema(
      'Memory limit of all processes of a command in megabytes; default: three quarters of the machine’s memory.',
    ),
    fileSize: countSchema('Size limit of one file that a command in the sandbox writes, in megabytes; default 16384.'),
  }),
  providers: mapSchema(
    'Additional or changed providers by name: url, wire, keys (environment variables), model, headers, profile.',
    { type: 'object' },
  ),
  policy: policySchema,
  projects: mapSchema(
    'Rules for single projects, by folder. Only in your own settings. “Always, in this project” is stored here.',
    objectSchema('Settings for one project.', {
      policy: policySchema,
      sandboxOptions: objectSchema('Additional permissions of commands in this project.', accessRuleSchemas),
      trustHooks: booleanSchema('The hooks of this project run outside the sandbox.'),
    }),
  ),
  mcpServers: mapSchema('MCP servers by name, in the format of other MCP clients.', mcpServerSchema),
  skills: stringListSchema(
    'More folders of skills. In a project: npm packages, whose folder `skills` is used, or folders of the project. In your own settings: any folders.',
  ),
  acpAgents: mapSchema('Other agents that the model can hand tasks to, by name.', acpAgentSchema),
  search: objectSchema(
    'Search service for models that cannot search the web themselves.',
    {
      service: enumSchema('Search service.', ['brave', 'tavily', 'searxng']),
      url: stringSchema('URL of the service, if it is not the public one.'),
      key: stringSchema('Environment variable that holds the API key.'),
    },
    ['service'],
  ),
  telemetry: objectSchema('Export of OpenTelemetry spans. Without an endpoint nothing is sent.', {
    endpoint: stringSchema('URL of the OTLP/HTTP collector.'),
    headers: stringMapSchema('Headers of the requests to the collector.'),
    prompts: booleanSchema('Also send prompts, answers, arguments and results; default false.'),
  }),
  server: objectSchema('Who may use dragoman serve. Only in your own settings and in those of the machine.', {
    tenants: mapSchema(
      'Tenants by name: their sessions, files and schedules are apart.',
      objectSchema(
        'A tenant.',
        {
          tokens: listSchema(
            'Its tokens.',
            objectSchema(
              'A token.',
              {
                hash: {
                  type: 'string',
                  pattern: '^sha256:[0-9a-fA-F]{64}$',
                  description: 'sha256: and the SHA-256 hash of the token.',
                },
                scopes: listSchema(
                  'What it may do: read; prompt (also create and cancel); approve (answer questions); metrics (counters of the process, of all tenants together); admin (all of it).',
                  { type: 'string', enum: [...SCOPES] },
                ),
              },
              ['hash', 'scopes'],
            ),
          ),
          limits: objectSchema('Its limits.', {
            sessions: countSchema('Sessions.'),
            schedules: countSchema('Schedules; default 100.'),
            promptsPerMinute: countSchema('Prompts, and messages to runs, within a minute.'),
            concurrency: countSchema('Prompts of a provider that run at the same time, in all processes; others wait.'),
            startsPerMinute: countSchema(
              'Prompts of a provider that start within a minute, in all processes; others wait.',
            ),
            streams: countSchema('Event streams at the same time on one server; default 200.'),
            dollarsPerMonth: priceSchema(
              'US dollars in a calendar month (UTC); a request that may exceed them is not sent.',
            ),
          }),
          models: stringListSchema('Models that its sessions may name beside that of the server; * for all.'),
          labels: stringListSchema('Labels of workers that its sessions may name; * for all.'),
          git: stringListSchema('Beginnings of the git URLs of its workspaces, for example https://github.com/acme.'),
          web: booleanSchema(
            'Its sessions may fetch public pages, and search with your search service; default false.',
          ),
          mcpServers: stringListSchema('Names of your MCP servers that its sessions may use; * for all, default none.'),
          memory: booleanSchema('Its sessions save facts for each other, in a file of this tenant; default false.'),
        },
        ['tokens'],
      ),
    ),
    hosts: stringListSchema(
      'Host names, in lower case, by which clients reach the server, beside localhost and numbers.',
    ),
    origins: stringListSchema('Origins of web pages that may use the server, for example https://app.example.'),
    instructions: stringSchema('Added to the system prompt of all sessions.'),
  }),
  gateway: objectSchema('What `dragoman gateway` does with the requests of other agents.', {
    routes: listSchema('Routes; the first one that matches decides.', gatewayRouteSchema),
    passKeys: stringListSchema('Providers that get the key that a client sends besides the token of the gateway.'),
    maxCostPerDay: dollarsSchema('Limit in US dollars per day for all clients together.'),
  }),
  compression: objectSchema('When a long conversation is summarised (compaction).', {
    share: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'Share of the context window that the history may fill; default 0.5.',
    },
  }),
  requestTimeout: {
    type: 'number',
    minimum: 1,
    description:
      'Seconds that a request may take without progress, including retries and waits; twice as long while the server sends keep-alive data. Default 300.',
  },
  hooks: mapSchema(
    'Commands that run at events (PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, SessionEnd, Stop, SubagentStop, PreCompact, Notification), in the format of Claude Code.',
    { type: 'array' },
  ),
  selfCorrect: booleanSchema(
    'Ask the model once to correct an edit whose search text does not match, instead of refusing it.',
  ),
  cacheDiagnosis: booleanSchema(
    'Ask the vendor why its prompt cache missed, for `dragoman sessions show --cache`. Anthropic and OpenAI tell.',
  ),
  editor: stringSchema('Editor command for long texts and proposed changes; default $VISUAL or $EDITOR.'),
  theme: enumSchema('Colour theme.', ['auto', 'dark', 'light', 'none']),
  vim: booleanSchema('Vim keys in the input.'),
  screenReader: booleanSchema('Plain lines without redrawing, for screen readers.'),
  notifications: enumSchema(
    'How you are told that a long run has ended or an approval waits, if you have pressed no key for a while; default auto.',
    ['auto', 'bell', 'osc9', 'osc777', 'off'],
  ),
  terminalTitle: booleanSchema(
    'Show the folder and whether the model works in the title of the terminal; default true.',
  ),
  statusLine: stringSchema(
    'A shell command whose first line of output replaces the status line; it gets the model, folder, cost and context as JSON on standard input. Only in your own settings.',
  ),
  keepBackgroundCommands: booleanSchema(
    'Commands in the background go on when the session ends, unless they are in the sandbox; default false. `/tasks keep` does it for one. Only in your own settings.',
  ),
  models: mapSchema(
    'Settings of single models, by provider/model; * stands for any text. A later pattern overrides an earlier one.',
    generationSchema,
  ),
  catalog: mapSchema(
    'Data of models that is missing or wrong in the built-in catalogue, by provider/model.',
    modelInfoSchema,
  ),
}

export const CONFIG_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Settings of Dragoman',
  type: 'object',
  properties,
  additionalProperties: false,
}
