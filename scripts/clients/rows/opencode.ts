import { opencode as setup } from '../../../src/gateway/clients/opencode.ts'
import { callFirst, type Client } from '../client.ts'

export const opencode: Client = {
  id: 'opencode',
  package: 'opencode-{target}',
  program: 'bin/opencode',
  quietEnv: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    // It looks for a plugin of its own at the registry, which it does not need.
    npm_config_fetch_retries: '0',
  },
  quietFiles: { '.config/opencode/opencode.json': JSON.stringify({ autoupdate: false, share: 'disabled' }) },
  runPrompt: (prompt) => ['run', prompt],
  models: setup.wires.map((wire) => ({
    wire,
    model: 'model',
    readFile: callFirst('read', { filePath: '{cwd}/a.txt' }),
  })),
  tools: [
    {
      read: (file) => ({ name: 'read', args: { filePath: `{cwd}/${file}` } }),
      edit: (file, before, after) => ({
        name: 'edit',
        args: { filePath: `{cwd}/${file}`, oldString: before, newString: after },
      }),
      shell: (command) => ({ name: 'bash', args: { command } }),
    },
  ],
}
