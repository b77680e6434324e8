import { join } from 'node:path'
import { getFirstModel, type GatewayAddress, type GatewayClient } from './client.ts'

const SETTINGS_FILE = 'qwen-settings.json'

/** On chat completions it sends no signatures back; on Anthropic's API it does, but no redacted thinking. */
export const qwen: GatewayClient = {
  id: 'qwen',
  title: 'Qwen Code',
  wires: ['openai-chat', 'anthropic'],
  setUp(address) {
    const isAnthropic = address.wire === 'anthropic'
    return {
      env: {
        ...(isAnthropic ? createAnthropicEnv(address) : createChatEnv(address)),
        // These settings override those of the user, for this run.
        QWEN_CODE_SYSTEM_SETTINGS_PATH: join(address.folder, SETTINGS_FILE),
      },
      args: [],
      files: {
        [SETTINGS_FILE]: JSON.stringify({ security: { auth: { selectedType: isAnthropic ? 'anthropic' : 'openai' } } }),
      },
    }
  },
}

function createChatEnv(address: GatewayAddress) {
  return {
    OPENAI_BASE_URL: `${address.url}/v1`,
    OPENAI_API_KEY: address.token,
    OPENAI_MODEL: getFirstModel(address),
  }
}

function createAnthropicEnv(address: GatewayAddress) {
  return {
    ANTHROPIC_BASE_URL: address.url,
    ANTHROPIC_API_KEY: address.token,
    ANTHROPIC_MODEL: getFirstModel(address),
  }
}
