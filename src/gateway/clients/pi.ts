import { getFirstModel, type GatewayClient } from './client.ts'

export const pi: GatewayClient = {
  id: 'pi',
  title: 'pi',
  setUp(address) {
    const { url, token, models, folder } = address
    const first = getFirstModel(address)
    const listed = [...new Set([first, ...models])].map((id) => ({ id }))
    const provider = { baseUrl: url, api: 'anthropic-messages', apiKey: token, models: listed }
    return {
      // It reads its providers from its folder only, so for this run it gets a folder of its own.
      env: { PI_CODING_AGENT_DIR: folder },
      args: ['--provider', 'dragoman', '--model', first],
      files: { 'models.json': JSON.stringify({ providers: { dragoman: provider } }) },
    }
  },
}
