import { callFirst, type Client } from '../client.ts'

const SETTINGS = {
  security: { auth: { selectedType: 'openai' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
}

export const qwen: Client = {
  id: 'qwen',
  title: 'Qwen Code',
  package: '@qwen-code/qwen-code',
  program: 'cli-entry.js',
  node: 22,
  quietEnv: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  runPrompt: (prompt) => ['--yolo', prompt],
  models: [
    {
      wire: 'openai-chat',
      model: 'qwen3-coder-plus',
      setUp: ({ url, key, model }) => ({
        env: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model },
        args: [],
        files: { '.qwen/settings.json': JSON.stringify(SETTINGS) },
      }),
      readFile: callFirst('read_file', { file_path: '{cwd}/a.txt' }),
    },
  ],
}
