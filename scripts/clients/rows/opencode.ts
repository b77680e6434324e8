import { callFirst, type Client, type ClientModel, type ModelEndpoint } from '../client.ts'

export const opencode: Client = {
  id: 'opencode',
  title: 'opencode',
  package: 'opencode-{target}',
  program: 'bin/opencode',
  quietEnv: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  },
  runPrompt: (prompt) => ['run', prompt],
  models: [
    createModel('openai-chat', '@ai-sdk/openai-compatible', '/v1'),
    createModel('openai-responses', '@ai-sdk/openai', '/v1'),
    createModel('anthropic', '@ai-sdk/anthropic', '/v1'),
    createModel('gemini', '@ai-sdk/google', '/v1beta'),
  ],
}

function createModel(wire: ClientModel['wire'], npm: string, path: string): ClientModel {
  return {
    wire,
    model: 'model',
    setUp: (endpoint) => ({
      env: {},
      args: [],
      files: { '.config/opencode/opencode.json': JSON.stringify(createConfig(endpoint, npm, path)) },
    }),
    readFile: callFirst('read', { filePath: '{cwd}/a.txt' }),
  }
}

function createConfig({ url, key, model }: ModelEndpoint, npm: string, path: string) {
  const models = { [model]: { name: model, tool_call: true, limit: { context: 200_000, output: 16_000 } } }
  return {
    autoupdate: false,
    share: 'disabled',
    provider: { dragoman: { npm, name: 'dragoman', options: { baseURL: url + path, apiKey: key }, models } },
    model: `dragoman/${model}`,
    small_model: `dragoman/${model}`,
  }
}
