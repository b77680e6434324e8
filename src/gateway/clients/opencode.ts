import type { WireId } from '../../model/turn.ts'
import { getFirstModel, type GatewayAddress, type GatewayClient } from './client.ts'

/** The SDK for each API, and the path of its base URL. On chat completions it sends no signatures back. */
const SDKS = {
  anthropic: ['@ai-sdk/anthropic', '/v1'],
  'openai-chat': ['@ai-sdk/openai-compatible', '/v1'],
  'openai-responses': ['@ai-sdk/openai', '/v1'],
  gemini: ['@ai-sdk/google', '/v1beta'],
} as const satisfies Partial<Record<WireId, readonly [npm: string, path: string]>>

export const opencode: GatewayClient = {
  id: 'opencode',
  title: 'opencode',
  wires: Object.keys(SDKS) as WireId[],
  setUp: (address) => ({ env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(createConfig(address)) }, args: [] }),
}

function createConfig(address: GatewayAddress) {
  const { url, token, models, wire, hasEncryptedReasoning } = address
  const first = getFirstModel(address)
  const [npm, path] = wire !== undefined && wire in SDKS ? SDKS[wire as keyof typeof SDKS] : SDKS.anthropic
  // It asks for reasoning by itself only of models whose names it knows.
  const options = hasEncryptedReasoning && { options: { include: ['reasoning.encrypted_content'] }, reasoning: true }
  const listed = Object.fromEntries([first, ...models].map((name) => [name, { name, tool_call: true, ...options }]))
  const dragoman = { npm, name: 'Dragoman', options: { baseURL: url + path, apiKey: token }, models: listed }
  return { provider: { dragoman }, model: `dragoman/${first}`, small_model: `dragoman/${first}` }
}
