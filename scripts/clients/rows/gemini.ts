import { callFirst, type Client } from '../client.ts'

const SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
}

export const gemini: Client = {
  id: 'gemini',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  program: 'bundle/gemini.js',
  node: 20,
  quietEnv: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  runPrompt: (prompt) => ['--approval-mode', 'yolo', '-p', prompt],
  models: [
    {
      wire: 'gemini',
      model: 'gemini-3-pro-preview',
      setUp: ({ url, key, model }) => ({
        env: { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key },
        args: ['-m', model],
        files: { '.gemini/settings.json': JSON.stringify(SETTINGS) },
      }),
      readFile: callFirst('read_file', { file_path: 'a.txt' }),
    },
  ],
}
