import { EXIT_CODE } from '../user-error.ts'

/** What a run does, for the help and the man page. */
export const RUN_ABOUT =
  'Runs a coding agent in the current folder, with any model. In a terminal it starts an interactive session; with -p, or when input or output is redirected, it prints one answer.'

export const RUN_EXAMPLES: readonly string[] = [
  'dragoman',
  'dragoman -p "why does the test fail?"',
  'git diff | dragoman -p "write a commit message"',
  'dragoman -m anthropic/claude-sonnet-4-5 --approval-mode auto_edit -p "rename foo to bar"',
  'dragoman -p "continue" --resume',
]

export const EXIT_CODE_DESCRIPTIONS: readonly (readonly [code: number, about: string])[] = [
  [EXIT_CODE.ok, 'success'],
  [EXIT_CODE.failure, 'failure'],
  [EXIT_CODE.signIn, 'sign-in required'],
  [EXIT_CODE.input, 'invalid input'],
  [EXIT_CODE.config, 'invalid settings'],
  [EXIT_CODE.turnLimit, 'limit reached'],
  [EXIT_CODE.interrupted, 'interrupted'],
]

export const ENVIRONMENT_VARIABLES: readonly (readonly [name: string, about: string])[] = [
  ['DRAGOMAN_MODEL', 'default model, as provider/model'],
  [
    'GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …',
    'API keys, under the vendors’ own names; docs/providers.md lists all of them',
  ],
  ['DRAGOMAN_<PROVIDER>_BASE_URL', 'base URL of a provider, for example DRAGOMAN_OPENAI_CHAT_BASE_URL'],
  ['DRAGOMAN_LOCAL_SERVERS', 'off: do not look for local model servers on their default ports'],
  ['DRAGOMAN_SYSTEM_MD', 'file with a system prompt that replaces the built-in one; 1 means .dragoman/system.md'],
  ['DRAGOMAN_WRITE_SYSTEM_MD', 'file to which the built-in system prompt is written; 1 means .dragoman/system.md'],
  ['DRAGOMAN_TRACE', 'the same as --trace'],
  ['DRAGOMAN_GOOGLE_METADATA', '1: get credentials from the metadata server of Google Cloud'],
  ['DRAGOMAN_INSTALLATION_ID', 'installation id for Code Assist; nothing is sent if not set'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OpenTelemetry collector; nothing is sent if not set'],
  ['HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY', 'HTTP proxy; NO_PROXY lists hosts that are reached directly'],
  ['VISUAL, EDITOR', 'editor for long texts and proposed changes'],
  ['NO_COLOR', 'no colours'],
  ['XDG_CONFIG_HOME', 'parent folder of dragoman/config.json; default ~/.config'],
  ['XDG_DATA_HOME', 'parent folder of dragoman/sessions; default ~/.local/share'],
]
