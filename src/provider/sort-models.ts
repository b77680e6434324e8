/**
 * Names of models in the order in which a person may want them: the usual one, its kin, then of the makers that most
 * people use, and of each maker the newer before the older. What holds no conversation comes last. The catalogue has no
 * dates, so the version in a name must say how new it is.
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

/** The makers whose models most people ask for, as those name them who pass them on. */
const POPULAR_VENDORS: readonly string[] = [
  'anthropic',
  'openai',
  'google',
  'deepseek',
  'qwen',
  'x-ai',
  'moonshotai',
  'z-ai',
  'mistralai',
  'meta-llama',
].map((maker) => `${maker}/`)

/** Models for something else than a conversation with tools. */
const NON_CHAT_MODEL =
  /embed|whisper|\btts\b|-tts|transcri|speech|audio|realtime|moderation|guard|rerank|dall-e|image|imagen|veo|sora|babbage|davinci|\bada\b|ocr/i

/** Whoever passes on the models of others names them with their makers: `anthropic/claude-sonnet-5`. */
function getVendorPrefix(id: string): string {
  return id.slice(0, id.lastIndexOf('/') + 1)
}

function getModelGroup(id: string): string {
  return getVendorPrefix(id) || (/^[a-z]+/i.exec(id)?.[0] ?? id)
}

/** `gpt-5.4-mini`: 5 and 4. Dates and sizes (`-2512`, `-70b`, `8x7b`) are no versions. */
function parseModelVersion(id: string): readonly [number, number] {
  const name = id.slice(getVendorPrefix(id).length)
  const [, major = '-1', minor = '0'] = /(?<![\d.])(\d{1,2})(?:[.-](\d{1,2}))?(?![\dbx]|\.\d)/i.exec(name) ?? []
  return [Number(major), Number(minor)]
}

function compareRanks(one: readonly number[], other: readonly number[]): number {
  return one.map((rank, at) => rank - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}
