import { getFirstModel, type GatewayAddress, type GatewayClient } from './client.ts'

export const opencode: GatewayClient = {
  id: 'opencode',
  title: 'opencode',
  setUp: (address) => ({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(createConfig(address)) }, args: [] }),
}

function createConfig(address: GatewayAddress) {
  const { url, token, models } = address
  const first = getFirstModel(address)
  const listed = Object.fromEntries([first, ...models].map((name) => [name, { name, tool_call: true }]))
  const options = { baseURL: `${url}/v1`, apiKey: token }
  const dragoman = { npm: '@ai-sdk/openai-compatible', name: 'Dragoman', options, models: listed }
  return { provider: { dragoman }, model: `dragoman/${first}`, small_model: `dragoman/${first}` }
}
