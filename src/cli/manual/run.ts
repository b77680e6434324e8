/** Examples of a run, for the help and the man page. */
export const RUN_EXAMPLES: readonly string[] = [
  'dragoman',
  'dragoman -p "why does the test fail?"',
  'git diff | dragoman -p "write a commit message"',
  'dragoman -m anthropic/claude-sonnet-4-5 --approval-mode auto_edit -p "rename foo to bar"',
  'dragoman -p "go on" --resume',
]

/** What the exit codes say. */
export const EXIT_CODES: readonly (readonly [code: number, about: string])[] = [
  [0, 'done'],
  [1, 'failure'],
  [41, 'sign-in'],
  [42, 'input'],
  [52, 'config'],
  [53, 'limit'],
  [130, 'interrupted'],
]

/** Variables that are read, beside those of the vendors. */
export const VARIABLES: readonly (readonly [name: string, about: string])[] = [
  ['DRAGOMAN_MODEL', 'the model to use when none is named: provider/model'],
  [
    'GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …',
    'keys, under the names that the vendors gave them; docs/providers.md lists them',
  ],
  ['DRAGOMAN_<PROVIDER>_BASE_URL', 'another address for a provider, for example DRAGOMAN_OPENAI_CHAT_BASE_URL'],
  ['DRAGOMAN_LOCAL_SERVERS', 'off: no model server is looked for on the usual ports of this machine'],
  ['DRAGOMAN_SYSTEM_MD', 'a file with another system prompt; 1 means .dragoman/system.md'],
  ['DRAGOMAN_WRITE_SYSTEM_MD', 'writes the system prompt to this file, to start from; 1 means .dragoman/system.md'],
  ['DRAGOMAN_TRACE', 'the same as --trace'],
  ['DRAGOMAN_GOOGLE_METADATA', '1 on a machine of Google’s: its metadata server is asked for credentials'],
  ['DRAGOMAN_INSTALLATION_ID', 'sent to Code Assist; nothing is sent if not set'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'a collector for telemetry; nothing is sent if not set'],
  ['HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY', 'a proxy'],
  ['VISUAL, EDITOR', 'the editor for long texts and proposed changes'],
  ['NO_COLOR', 'no colours'],
  ['XDG_CONFIG_HOME', 'the folder of dragoman/config.json; ~/.config if not set'],
  ['XDG_DATA_HOME', 'the folder of dragoman/sessions; ~/.local/share if not set'],
]
