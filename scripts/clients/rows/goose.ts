import { callFirst, type Client } from '../client.ts'

export const goose: Client = {
  id: 'goose',
  title: 'goose',
  package: '@aaif/goose-binary-{target}',
  program: 'bin/goose',
  quietEnv: { GOOSE_DISABLE_KEYRING: '1', GOOSE_TELEMETRY_ENABLED: 'false' },
  runPrompt: (prompt) => ['run', '--no-session', '--with-builtin', 'developer', '-t', prompt],
  models: [
    {
      wire: 'openai-chat',
      model: 'gpt-4.1',
      setUp: ({ url, key, model }) => ({
        env: {
          OPENAI_HOST: url,
          OPENAI_API_KEY: key,
          GOOSE_PROVIDER: 'openai',
          GOOSE_MODEL: model,
          GOOSE_MODE: 'auto',
        },
        args: [],
      }),
      readFile: callFirst('shell', { command: 'cat a.txt' }),
    },
  ],
}
