import { GATEWAY_CLIENTS } from '../../../gateway/clients/all-clients.ts'
import { HELP_OPTION } from '../../args/options.ts'
import type { CliCommandSpec } from '../spec.ts'

const CLIENT_IDS = GATEWAY_CLIENTS.map(({ id }) => id)

export const GATEWAY_COMMAND = {
  summary: 'let other agents (Claude Code, Codex, Gemini CLI, …) use any model',
  usage: ['[options]', 'run <client> [options] [-- arguments]', 'env <client> --url <url> --token <token>'],
  about: [
    'Runs a server on this machine that speaks the APIs of Anthropic, OpenAI and Google, and answers by the models of any provider. “gateway.routes” of the settings says which model answers what; without routes, --model or your default model answers everything.',
    `The clients are ${CLIENT_IDS.join(', ')}. Their own configuration is not changed.`,
  ],
  options: {
    port: { takes: '<n>', about: 'port; default: any free one' },
    host: { takes: '<address>', about: 'address to listen on; default: this machine only' },
    token: { takes: '<token>', about: 'token that clients must send; default: a random one' },
    model: {
      short: 'm',
      takes: '<name>',
      from: 'model',
      about: 'provider/model for everything; a,b: use b if a cannot answer',
    },
    record: { takes: '<folder>', from: 'folder', about: 'record all requests to models, without secrets' },
    url: { takes: '<url>', about: 'env: the URL of the gateway' },
    json: { about: 'print the URL, the token and the inspector as one line of JSON' },
    ...HELP_OPTION,
  },
  subcommands: {
    run: {
      takes: '<client> [-- arguments]',
      about: 'start a gateway and a client that uses it; both end together',
      options: ['port', 'model', 'record'],
      positional: CLIENT_IDS,
      examples: [
        'dragoman gateway run claude -m openai/gpt-5.1',
        'dragoman gateway run codex -m gemini/gemini-3-pro-preview -- exec "hello"',
      ],
    },
    env: {
      takes: '<client>',
      about: 'print the variables and arguments that point a client to a running gateway',
      options: ['url', 'token', 'model', 'json'],
      positional: CLIENT_IDS,
      examples: ['dragoman gateway env claude --url http://127.0.0.1:4000 --token secret'],
    },
  },
  examples: [
    'dragoman gateway --port 4000 -m openrouter/qwen/qwen3-coder',
    'dragoman gateway run claude -m openai/gpt-5.1',
  ],
} as const satisfies CliCommandSpec
