import { callFirst, type Client } from '../client.ts'

export const claude: Client = {
  id: 'claude',
  package: '@anthropic-ai/claude-code-{target}',
  program: 'claude',
  quietEnv: {
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  },
  runPrompt: (prompt) => ['-p', prompt, '--allowedTools', 'Read,Edit,Bash', '--permission-mode', 'acceptEdits'],
  models: [
    {
      wire: 'anthropic',
      model: 'claude-sonnet-5',
      args: ['--model', 'claude-sonnet-5'],
      readFile: callFirst('Read', { file_path: '{cwd}/a.txt' }),
    },
  ],
  tools: [
    {
      read: (file) => ({ name: 'Read', args: { file_path: `{cwd}/${file}` } }),
      edit: (file, before, after) => ({
        name: 'Edit',
        args: { file_path: `{cwd}/${file}`, old_string: before, new_string: after },
      }),
      shell: (command) => ({ name: 'Bash', args: { command, description: 'Writes a file' } }),
    },
  ],
}
