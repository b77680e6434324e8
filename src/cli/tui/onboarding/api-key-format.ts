/** Keys say by their first letters whose they are; the longer beginnings come first. */
const KEY_PREFIXES: readonly (readonly [beginning: string, provider: string])[] = [
  ['sk-ant-', 'anthropic'],
  ['sk-or-', 'openrouter'],
  ['AIza', 'gemini'],
  ['gsk_', 'groq'],
  ['xai-', 'xai'],
]

/** No name of a provider is that long; most keys are longer by far. */
const MIN_KEY_CHARS = 20

/** May this be a key, or the beginning of one? Then it must not be shown. */
export function looksLikeApiKey(text: string): boolean {
  return (
    text.trim().length >= MIN_KEY_CHARS || /^\s*(?:sk[-_]|pk-|AIza|gsk_|xai-|hf_|nvapi-|key-|csk-|fw_|r8_)/i.test(text)
  )
}

/** Whose key this is, where its beginning says so. */
export function findKeyProvider(key: string): string | undefined {
  return KEY_PREFIXES.find(([beginning]) => key.startsWith(beginning))?.[1]
}
