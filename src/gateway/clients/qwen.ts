import { join } from 'node:path'
import { getFirstModel, type GatewayClient } from './client.ts'

const SETTINGS_FILE = 'qwen-settings.json'

export const qwen: GatewayClient = {
  id: 'qwen',
  title: 'Qwen Code',
  wires: ['openai-chat'],
  setUp: (address) => ({
    env: {
      OPENAI_BASE_URL: `${address.url}/v1`,
      OPENAI_API_KEY: address.token,
      OPENAI_MODEL: getFirstModel(address),
      // These settings override those of the user, for this run.
      QWEN_CODE_SYSTEM_SETTINGS_PATH: join(address.folder, SETTINGS_FILE),
    },
    args: [],
    files: { [SETTINGS_FILE]: JSON.stringify({ security: { auth: { selectedType: 'openai' } } }) },
  }),
}
