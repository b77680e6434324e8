import { pi as setup } from '../../../src/gateway/clients/pi.ts'
import { callFirst, type Client } from '../client.ts'

export const pi: Client = {
  id: 'pi',
  package: '@earendil-works/pi-coding-agent',
  // Not every registry has all packages that the newest version depends on.
  versions: ['latest', '0.87.1'],
  program: 'dist/bundle/cli.js',
  node: 22,
  quietEnv: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
  // Sessions are kept in its own folder if it exists.
  quietFiles: { '.pi/agent/sessions/.keep': '' },
  runPrompt: (prompt) => ['-p', prompt],
  models: setup.wires.map((wire) => ({ wire, model: 'model', readFile: callFirst('read', { path: 'a.txt' }) })),
  tools: [
    {
      read: (file) => ({ name: 'read', args: { path: file } }),
      edit: (file, before, after) => ({
        name: 'edit',
        args: { path: file, edits: [{ oldText: before, newText: after }] },
      }),
      shell: (command) => ({ name: 'bash', args: { command } }),
    },
  ],
}
