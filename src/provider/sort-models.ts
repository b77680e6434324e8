/**
 * Sorts models: the default one, its relatives, popular vendors, and of each vendor newer versions first. Models that
 * are not for chat come last. The catalogue has no dates, so versions are read from names.
 */
export function sortModelsNewestFirst(ids: readonly string[], defaultModel: string | undefined): string[] {
  const others = [...new Set(ids.map(getVendorPrefix))].filter((maker) => !POPULAR_VENDORS.includes(maker))
  const makers = [...POPULAR_VENDORS, ...others]
  const defaultGroup = defaultModel === undefined ? undefined : getModelGroup(defaultModel)
  const ranked = ids.map((id) => {
    const closeness = id === defaultModel ? 2 : getModelGroup(id) === defaultGroup ? 1 : 0
    const isChatModel = id === defaultModel || !NON_CHAT_MODEL.test(id) ? 1 : 0
    return { id, rank: [isChatModel, closeness, -makers.indexOf(getVendorPrefix(id)), ...parseModelVersion(id)] }
  })
  return ranked.toSorted((one, other) => compareRanks(other.rank, one.rank)).map(({ id }) => id)
}

/** As resellers name them. */
const POPULAR_VENDORS: readonly string[] =
  'anthropic/ openai/ google/ deepseek/ qwen/ x-ai/ moonshotai/ z-ai/ mistralai/ meta-llama/'.split(' ')

const NON_CHAT_MODEL =
  /embed|whisper|\btts\b|-tts|transcri|speech|audio|realtime|moderation|guard|rerank|dall-e|image|imagen|veo|sora|babbage|davinci|\bada\b|ocr/i

/** Resellers put the vendor before the name: `anthropic/claude-sonnet-5`. */
function getVendorPrefix(id: string): string {
  return id.slice(0, id.lastIndexOf('/') + 1)
}

function getModelGroup(id: string): string {
  return getVendorPrefix(id) || (/^[a-z]+/i.exec(id)?.[0] ?? id)
}

/** `gpt-5.4-mini`: 5 and 4. Dates and sizes (`-2512`, `-70b`, `8x7b`) are not versions. */
function parseModelVersion(id: string): readonly [number, number] {
  const name = id.slice(getVendorPrefix(id).length)
  const [, major = '-1', minor = '0'] = /(?<![\d.])(\d{1,2})(?:[.-](\d{1,2}))?(?![\dbx]|\.\d)/i.exec(name) ?? []
  return [Number(major), Number(minor)]
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  return one.map((rank, at) => rank - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}
