import type { GatewayClient } from './client.ts'

const TOKEN_VARIABLE = 'DRAGOMAN_GATEWAY_TOKEN'

export const codex: GatewayClient = {
  id: 'codex',
  title: 'Codex',
  wires: ['openai-responses'],
  setUp: ({ url, token }) => ({
    env: { [TOKEN_VARIABLE]: token },
    args: Object.entries({
      model_provider: 'dragoman',
      'model_providers.dragoman.name': 'Dragoman',
      'model_providers.dragoman.base_url': `${url}/v1`,
      'model_providers.dragoman.wire_api': 'responses',
      'model_providers.dragoman.env_key': TOKEN_VARIABLE,
      'model_providers.dragoman.supports_websockets': false,
    }).flatMap(([name, value]) => ['-c', `${name}=${JSON.stringify(value)}`]),
  }),
}
