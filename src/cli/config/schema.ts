import type { JsonObject } from '../../model/json.ts'
import { type ApprovalMode, MODE_NAMES } from '../../policy/policy.ts'
import type { McpServerConfig } from '../../tool/mcp/config.ts'

/** What a person can settle in a config file. */
export interface Config {
  /** For editors: where the schema of these settings is. */
  readonly $schema?: string
  /** The model to use when none is named. */
  readonly model?: string
  /** The models to go on with when that one cannot answer. */
  readonly fallback?: readonly string[]
  readonly approvalMode?: ApprovalMode
  readonly sandbox?: 'auto' | 'on' | 'off'
  readonly sandboxOptions?: SandboxConfig
  /** Vendors beside those of the table: a row each. */
  readonly providers?: Readonly<Record<string, JsonObject>>
  readonly policy?: PolicyConfig
  /** What holds in one project only, by its folder. It counts in the person's own settings, never in a project's. */
  readonly projects?: Readonly<Record<string, ProjectConfig>>
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>
  readonly search?: SearchConfig
  readonly telemetry?: TelemetryConfig
  readonly compression?: { readonly share?: number }
  /** How long a model may say nothing, all attempts together, in seconds. */
  readonly requestTimeout?: number
  /** Asks the model once to put an edit right whose search text does not fit. */
  readonly selfCorrect?: boolean
  /** The editor for long texts and proposed changes, with its arguments. */
  readonly editor?: string
  readonly theme?: 'auto' | 'dark' | 'light' | 'none'
  readonly vim?: boolean
  /** Says every change of the screen in plain lines, for a screen reader. */
  readonly screenReader?: boolean
  /** Facts about models that the catalogue lacks or has wrong. */
  readonly catalog?: Readonly<Record<string, JsonObject>>
}

/** What holds in one project only. */
export interface ProjectConfig {
  readonly policy?: PolicyConfig
  readonly sandboxOptions?: Pick<SandboxConfig, 'allowNetwork' | 'allowOutside'>
}

/** What commands may have and change beside the workspace. */
export interface SandboxConfig {
  /** With the network they write the caches of packages in the home folder, not private ones. */
  readonly writeCaches?: boolean
  /** Commands in the sandbox reach the network. */
  readonly network?: boolean
  /** Rules for commands that reach the network from the sandbox, and for those that run outside of it. */
  readonly allowNetwork?: readonly string[]
  readonly allowOutside?: readonly string[]
  /** Megabytes that all processes of a command may hold. */
  readonly memory?: number
  /** Megabytes that a command may write into one file. */
  readonly fileSize?: number
}

/** Rules: what runs unasked, what is asked about, what is refused. */
export interface PolicyConfig {
  readonly allow?: readonly RuleConfig[]
  readonly ask?: readonly RuleConfig[]
  readonly deny?: readonly RuleConfig[]
  /** Files that are never written without a question, beside the usual ones. */
  readonly protectedWrites?: readonly string[]
  /** Files that are never read without a question, beside the usual ones. */
  readonly secretFiles?: readonly string[]
}

/** A rule, with examples that are checked when it is loaded. */
export type RuleConfig =
  | string
  | { readonly rule: string; readonly matches?: readonly string[]; readonly spares?: readonly string[] }

/** Who is asked when the model wants to search the web and cannot do so itself. */
export interface SearchConfig {
  readonly service: 'brave' | 'tavily' | 'searxng'
  readonly url?: string
  /** The environment variable that holds the key. */
  readonly key?: string
}

/** Where spans go; without an endpoint nothing is sent to anyone. */
export interface TelemetryConfig {
  readonly endpoint?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Also what was said, with arguments and results. */
  readonly prompts?: boolean
}

const text = (description: string): JsonObject => ({ type: 'string', minLength: 1, description })
const flag = (description: string): JsonObject => ({ type: 'boolean', description })
const oneOf = (description: string, values: string[]): JsonObject => ({ type: 'string', enum: values, description })
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })
const pairs = (description: string): JsonObject => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
})
const closed = (description: string, properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  description,
  properties,
  additionalProperties: false,
  ...(required.length > 0 && { required }),
})

const rules = (description: string): JsonObject => ({
  type: 'array',
  description,
  items: {
    anyOf: [
      { type: 'string', minLength: 1 },
      closed(
        'A rule with examples that are checked when it is loaded.',
        {
          rule: text('The rule, like run_shell_command(git status).'),
          matches: texts('Calls that the rule must cover.'),
          spares: texts('Calls that the rule must not cover.'),
        },
        ['rule'],
      ),
    ],
  },
})

const mcpServer = closed('A server that offers tools.', {
  command: text('The program to start.'),
  args: texts('Its arguments.'),
  env: pairs('Variables that it gets beside the harmless ones; $NAME stands for a variable of yours.'),
  cwd: text('The folder to start it in.'),
  url: text('The address of a server that runs already; a "type" of sse for the older protocol.'),
  httpUrl: text('The address of a server that speaks Streamable HTTP.'),
  type: oneOf('How to speak with it.', ['stdio', 'http', 'sse', 'streamable-http']),
  headers: pairs('Headers for every request to it; $NAME stands for a variable of yours.'),
  timeout: { type: 'number', exclusiveMinimum: 0, description: 'Milliseconds that a call may take.' },
  trust: flag('Its tools run unasked, and it runs outside the sandbox.'),
  network: flag('Whether it may reach the network from inside the sandbox; it may if this is not said.'),
  includeTools: texts('Only these of its tools.'),
  excludeTools: texts('All but these of its tools.'),
  description: text('What it is for.'),
  disabled: flag('Not started.'),
  oauth: closed('A client that you registered by hand, for services where nobody can register by itself.', {
    clientId: text('Its id.'),
    clientSecret: text('Its secret, if it has one; $NAME stands for a variable of yours.'),
    scopes: texts('What to ask for.'),
    hosts: texts('Hosts of your own network, `name` or `name:port`, that take part in the sign-in.'),
  }),
})

const count = (description: string): JsonObject => ({ type: 'integer', minimum: 1, description })
const rate = (description: string): JsonObject => ({ type: 'number', minimum: 0, description })

const modelCard = closed('What is known of a model.', {
  window: count('How many tokens it takes in.'),
  output: count('How many tokens it writes in one answer.'),
  abilities: {
    type: 'array',
    items: { type: 'string', enum: ['tools', 'vision', 'reasoning'] },
    description: 'What it can do.',
  },
  price: closed(
    'US dollars for a million tokens.',
    {
      input: rate('Read fresh.'),
      output: rate('Written.'),
      cacheRead: rate('Read from the cache; like input if not said.'),
      cacheWrite: rate('Written to the cache; like input if not said.'),
      reasoning: rate('Thought; like output if not said.'),
    },
    ['input', 'output'],
  ),
})

const accessRules = {
  allowNetwork: texts('Commands that reach the network from the sandbox, as rules: npm install *.'),
  allowOutside: texts('Commands that run outside the sandbox, as rules. They still need permission to run.'),
}

const policy = closed('Rules: the last of deny, ask, allow that fits decides, deny first.', {
  allow: rules('What runs unasked.'),
  ask: rules('What is always asked about.'),
  deny: rules('What is refused.'),
  protectedWrites: texts('Files that are never written unasked, beside the usual ones.'),
  secretFiles: texts('Files that are never read unasked, beside the usual ones.'),
})

const properties: Record<keyof Config, JsonObject> = {
  $schema: { type: 'string' },
  model: text('The model to use when none is named: provider/model.'),
  fallback: texts('The models to go on with when that one cannot answer.'),
  approvalMode: oneOf('What happens unasked.', MODE_NAMES),
  sandbox: oneOf('Whether commands run in a sandbox; auto: where there is one.', ['auto', 'on', 'off']),
  sandboxOptions: closed('What commands may have and change beside the workspace.', {
    writeCaches: flag(
      'Commands and MCP servers with the network write the package caches of your home folder; without it, private ones.',
    ),
    network: flag('Commands in the sandbox reach the network.'),
    ...accessRules,
    memory: count('Megabytes that all processes of a command may hold; three quarters of the machine’s if not said.'),
    fileSize: count('Megabytes that a command in the sandbox may write into one file; 16384 if not said.'),
  }),
  providers: {
    type: 'object',
    additionalProperties: { type: 'object' },
    description: 'Vendors of your own, each a row: url, wire, keys (environment variables), model, headers, profile.',
  },
  policy,
  projects: {
    type: 'object',
    additionalProperties: closed('A project.', {
      policy,
      sandboxOptions: closed(
        'What its commands may do beyond the sandbox, beside what they may everywhere.',
        accessRules,
      ),
    }),
    description:
      'Rules for single projects, by folder; only in your own settings. “Allow in this project” writes here.',
  },
  mcpServers: {
    type: 'object',
    additionalProperties: mcpServer,
    description: 'MCP servers by name, as other clients write them.',
  },
  search: closed(
    'Who is asked when the model wants to search the web and cannot do so itself.',
    {
      service: oneOf('The service.', ['brave', 'tavily', 'searxng']),
      url: text('Its address, if it is not the usual one.'),
      key: text('The environment variable that holds its key.'),
    },
    ['service'],
  ),
  telemetry: closed('Where spans go, in OpenTelemetry’s protocol. Without an endpoint nothing is sent to anyone.', {
    endpoint: text('The address of the collector.'),
    headers: pairs('Headers for it.'),
    prompts: flag('Also send what was said, with arguments and results.'),
  }),
  compression: closed('When a long conversation is summarised.', {
    share: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      description: 'The share of the model’s window that it may fill; 0.5 if not said.',
    },
  }),
  requestTimeout: {
    type: 'number',
    minimum: 1,
    description:
      'Seconds that a request may go without progress, all attempts and the waits between them together; twice that while the server sends signs of life. 300 if not said.',
  },
  selfCorrect: flag('Ask the model once to put an edit right whose search text does not fit; otherwise it is refused.'),
  editor: text('The editor for long texts and proposed changes; $VISUAL or $EDITOR if not said.'),
  theme: oneOf('Colours.', ['auto', 'dark', 'light', 'none']),
  vim: flag('Vim’s keys in the input.'),
  screenReader: flag('Plain lines and no repainting, for a screen reader.'),
  catalog: {
    type: 'object',
    additionalProperties: modelCard,
    description: 'Facts about models that the catalogue lacks or has wrong, by provider/model.',
  },
}

/** The one schema of config files. */
export const CONFIG_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Dragoman’s settings',
  type: 'object',
  properties,
  additionalProperties: false,
}
