import { callFirst, type Client } from '../client.ts'

export const claude: Client = {
  id: 'claude',
  title: 'Claude Code',
  package: '@anthropic-ai/claude-code-{target}',
  program: 'claude',
  quietEnv: {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  },
  runPrompt: (prompt) => ['-p', prompt],
  models: [
    {
      wire: 'anthropic',
      model: 'claude-sonnet-5',
      setUp: ({ url, key, model }) => ({
        env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key },
        args: ['--model', model],
      }),
      readFile: callFirst('Read', { file_path: '{cwd}/a.txt' }),
    },
  ],
}
