import { callFirst, type Client } from '../client.ts'

export const goose: Client = {
  id: 'goose',
  package: '@aaif/goose-binary-{target}',
  program: 'bin/goose',
  quietEnv: { GOOSE_DISABLE_KEYRING: '1', GOOSE_TELEMETRY_ENABLED: 'false', GOOSE_MODE: 'auto' },
  runPrompt: (prompt) => ['run', '--no-session', '--with-builtin', 'developer', '-t', prompt],
  models: [{ wire: 'openai-chat', model: 'gpt-4.1', readFile: callFirst('shell', { command: 'cat a.txt' }) }],
  tools: [
    {
      read: (file) => ({ name: 'shell', args: { command: `cat ${file}` } }),
      edit: (file, before, after) => ({ name: 'edit', args: { path: `{cwd}/${file}`, before, after } }),
      shell: (command) => ({ name: 'shell', args: { command } }),
    },
  ],
}
