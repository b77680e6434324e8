import { getFirstModel, type GatewayClient } from './client.ts'

export const goose: GatewayClient = {
  id: 'goose',
  title: 'goose',
  wires: ['openai-chat'],
  setUp: (address) => ({
    env: {
      OPENAI_HOST: address.url,
      OPENAI_API_KEY: address.token,
      GOOSE_PROVIDER: 'openai',
      GOOSE_MODEL: getFirstModel(address),
    },
    unset: ['OPENAI_BASE_PATH', 'OPENAI_BASE_URL'],
    args: [],
  }),
}
