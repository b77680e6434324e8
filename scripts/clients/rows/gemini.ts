import { callFirst, type Client } from '../client.ts'

const SETTINGS = {
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
}

export const gemini: Client = {
  id: 'gemini',
  package: '@google/gemini-cli',
  program: 'bundle/gemini.js',
  node: 20,
  quietEnv: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  quietFiles: { '.gemini/settings.json': JSON.stringify(SETTINGS), '.gemini/tmp/.keep': '' },
  runPrompt: (prompt) => ['--approval-mode', 'yolo', '-p', prompt],
  models: [
    {
      wire: 'gemini',
      model: 'gemini-3-pro-preview',
      args: ['-m', 'gemini-3-pro-preview'],
      readFile: callFirst('read_file', { file_path: 'a.txt' }),
    },
  ],
  tools: [
    {
      read: (file) => ({ name: 'read_file', args: { file_path: `{cwd}/${file}` } }),
      edit: (file, before, after) => ({
        name: 'replace',
        args: { file_path: `{cwd}/${file}`, instruction: 'Replace it.', old_string: before, new_string: after },
      }),
      shell: (command) => ({ name: 'run_shell_command', args: { command, description: 'Writes a file' } }),
      // It asks how complex a task is, and again and again until it gets JSON.
      answer: JSON.stringify({ complexity_reasoning: 'A few small steps.', complexity_score: 10 }),
    },
  ],
}
