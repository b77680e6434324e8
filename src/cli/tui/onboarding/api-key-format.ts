import { providers } from '../../../provider/index.ts'

/** Names of providers are shorter, and most keys are much longer. */
const MIN_KEY_CHARS = 20

/** May this be a key, or the beginning of one, which must not be shown? */
export function looksLikeApiKey(text: string): boolean {
  return (
    text.trim().length >= MIN_KEY_CHARS || /^\s*(?:sk[-_]|pk-|AIza|gsk_|xai-|hf_|nvapi-|key-|csk-|fw_|r8_)/i.test(text)
  )
}

export function findKeyProvider(key: string): string | undefined {
  return providers.find(({ labels }) => labels?.keyPrefix !== undefined && key.startsWith(labels.keyPrefix))?.id
}
