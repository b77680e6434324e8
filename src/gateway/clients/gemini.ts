import { join } from 'node:path'
import type { GatewayClient } from './client.ts'

export const gemini: GatewayClient = {
  id: 'gemini',
  title: 'Gemini CLI',
  wires: ['gemini'],
  setUp: ({ url, token, folder }) => ({
    env: {
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: token,
      // With a base URL it needs a sign-in by key in its settings, and it ignores system settings that are not root's.
      GEMINI_CLI_HOME: folder,
    },
    unset: ['GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
    args: [],
    overlay: {
      getSource: (home, env) => join(env['GEMINI_CLI_HOME'] ?? home, '.gemini'),
      target: join(folder, '.gemini'),
      changes: { 'settings.json': { security: { auth: { selectedType: 'gemini-api-key' } } } },
    },
  }),
}
