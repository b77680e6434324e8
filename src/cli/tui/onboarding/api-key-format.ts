/** How the keys of providers begin; longer prefixes first. */
const KEY_PREFIXES: readonly (readonly [prefix: string, provider: string])[] = [
  ['sk-ant-', 'anthropic'],
  ['sk-or-', 'openrouter'],
  ['AIza', 'gemini'],
  ['gsk_', 'groq'],
  ['xai-', 'xai'],
]

/** Names of providers are shorter, and most keys are much longer. */
const MIN_KEY_CHARS = 20

/** May this be a key, or the beginning of one, which must not be shown? */
export function looksLikeApiKey(text: string): boolean {
  return (
    text.trim().length >= MIN_KEY_CHARS || /^\s*(?:sk[-_]|pk-|AIza|gsk_|xai-|hf_|nvapi-|key-|csk-|fw_|r8_)/i.test(text)
  )
}

export function findKeyProvider(key: string): string | undefined {
  return KEY_PREFIXES.find(([prefix]) => key.startsWith(prefix))?.[1]
}
