import type { GatewayClient } from './client.ts'

export const claude: GatewayClient = {
  id: 'claude',
  title: 'Claude Code',
  wires: ['anthropic'],
  setUp: ({ url, token }) => ({
    env: {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_AUTH_TOKEN: token,
      CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
    },
    unset: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
    args: [],
  }),
}
