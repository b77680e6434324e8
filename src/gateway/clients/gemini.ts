import { join } from 'node:path'
import type { GatewayClient } from './client.ts'

const SETTINGS_FILE = 'gemini-settings.json'

export const gemini: GatewayClient = {
  id: 'gemini',
  title: 'Gemini CLI',
  wires: ['gemini'],
  setUp: ({ url, token, folder }) => ({
    env: {
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: token,
      // These settings override those of the user, for this run.
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(folder, SETTINGS_FILE),
    },
    unset: ['GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_GENAI_USE_GCA'],
    args: [],
    files: { [SETTINGS_FILE]: JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
  }),
}
