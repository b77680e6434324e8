import { callFirst, type Client } from '../client.ts'

const SETTINGS = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
}

export const qwen: Client = {
  id: 'qwen',
  package: '@qwen-code/qwen-code',
  program: 'cli-entry.js',
  node: 22,
  quietEnv: { QWEN_CODE_SUPPRESS_YOLO_WARNING: '1' },
  quietFiles: { '.qwen/settings.json': JSON.stringify(SETTINGS) },
  runPrompt: (prompt) => ['--yolo', prompt],
  models: [
    {
      wire: 'openai-chat',
      model: 'qwen3-coder-plus',
      readFile: callFirst('read_file', { file_path: '{cwd}/a.txt' }),
    },
  ],
  tools: [
    {
      read: (file) => ({ name: 'read_file', args: { file_path: `{cwd}/${file}` } }),
      edit: (file, before, after) => ({
        name: 'edit',
        args: { file_path: `{cwd}/${file}`, old_string: before, new_string: after },
      }),
      shell: (command) => ({
        name: 'run_shell_command',
        args: { command, description: 'Writes a file', is_background: false },
      }),
    },
  ],
}
