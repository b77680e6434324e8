import { callFirst, type Client, type ClientModel } from '../client.ts'

export const pi: Client = {
  id: 'pi',
  title: 'pi',
  package: '@earendil-works/pi-coding-agent',
  // Not every registry has all packages that the newest version depends on.
  versions: ['latest', '0.87.1'],
  program: 'dist/bundle/cli.js',
  node: 22,
  quietEnv: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
  runPrompt: (prompt) => ['-p', prompt],
  models: [
    createModel('openai-chat', 'openai-completions', '/v1'),
    createModel('openai-responses', 'openai-responses', '/v1'),
    createModel('anthropic', 'anthropic-messages', ''),
    createModel('gemini', 'google-generative-ai', '/v1beta'),
  ],
}

function createModel(wire: ClientModel['wire'], api: string, path: string): ClientModel {
  return {
    wire,
    model: 'model',
    setUp: ({ url, key, model }) => {
      const provider = { baseUrl: url + path, api, apiKey: key, models: [{ id: model }] }
      return {
        env: {},
        args: ['--provider', 'dragoman', '--model', model],
        files: { '.pi/agent/models.json': JSON.stringify({ providers: { dragoman: provider } }) },
      }
    },
    readFile: callFirst('read', { path: 'a.txt' }),
  }
}
