import { join } from 'node:path'
import type { WireId } from '../../model/turn.ts'
import { getFirstModel, type GatewayClient } from './client.ts'

/** Its name of each API, and the path of the base URL. */
const APIS = {
  anthropic: ['anthropic-messages', ''],
  'openai-chat': ['openai-completions', '/v1'],
  'openai-responses': ['openai-responses', '/v1'],
  gemini: ['google-generative-ai', '/v1beta'],
} as const satisfies Partial<Record<WireId, readonly [api: string, path: string]>>

export const pi: GatewayClient = {
  id: 'pi',
  title: 'pi',
  wires: Object.keys(APIS) as WireId[],
  setUp(address) {
    const { url, token, models, folder, wire, hasEncryptedReasoning } = address
    const first = getFirstModel(address)
    const [api, path] = wire !== undefined && wire in APIS ? APIS[wire as keyof typeof APIS] : APIS.anthropic
    // Otherwise it sends reasoning back without the encrypted content, which OpenAI rejects.
    const listed = [...new Set([first, ...models])].map((id) => ({
      id,
      ...(hasEncryptedReasoning && { reasoning: true }),
    }))
    const provider = { baseUrl: url + path, api, apiKey: token, models: listed }
    return {
      env: { PI_CODING_AGENT_DIR: folder },
      args: ['--provider', 'dragoman', '--model', first],
      // It reads its providers from its folder only.
      overlay: {
        getSource: (home, env) => env['PI_CODING_AGENT_DIR'] ?? join(home, '.pi', 'agent'),
        target: folder,
        changes: { 'models.json': { providers: { dragoman: provider } } },
      },
    }
  },
}
