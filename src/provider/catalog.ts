import type { JsonObject } from '../model/json.ts'
import type { ModelOrigin } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import DATA from './catalog-data.md'
import { providers } from './providers.ts'
import { defined } from '../model/defined.ts'

/** What is known about a model; unknown fields are absent, never guessed. */
export interface ModelCard {
  /** The context window, in tokens. */
  readonly window?: number
  /** The longest response, in tokens. */
  readonly output?: number
  readonly abilities?: readonly (typeof ABILITIES)[number][]
  readonly price?: Price
}

/** US dollars per million tokens. */
interface TokenRates {
  readonly input: number
  readonly output: number
  /** Defaults to `input`, as `cacheWrite` does. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Defaults to `output`. */
  readonly reasoning?: number
}

/** A tier applies to all tokens of a request with more than `above` input tokens. */
export interface Price extends TokenRates {
  readonly tiers?: readonly (TokenRates & { readonly above: number })[]
}

export type ProviderModelName = Pick<ModelOrigin, 'provider' | 'model'>

/** What is known about models: limits, abilities and prices. */
export interface Catalog {
  readonly date: string
  readonly source: string
  card(named: ProviderModelName): ModelCard | undefined
  /** In US dollars; undefined if the price is unknown. */
  readonly cost: (named: ProviderModelName, usage: Usage) => number | undefined
  models(provider: string): readonly { readonly id: string; readonly card: ModelCard }[]
}

/** `overrides` come from the user's settings, by `provider/model`. */
export function createCatalog(overrides: Readonly<Record<string, JsonObject>> = {}, today = new Date()): Catalog {
  const day = today.toISOString().slice(0, 10)
  const cards = new Map<string, ModelCard | undefined>()

  function card(named: ProviderModelName): ModelCard | undefined {
    const key = `${named.provider}/${named.model}`
    if (!cards.has(key)) cards.set(key, find(named))
    return cards.get(key)
  }

  function find({ provider, model }: ProviderModelName): ModelCard | undefined {
    const name = model.replace(/^models\//, '').toLowerCase()
    const found = listed(provider)
      .find(({ matches }) => matches(name))
      ?.createCard(day)
    const free = FLAT_RATE_PROVIDERS.has(provider) && found ? withoutPrice(found) : found
    const override = overrides[`${provider}/${model}`]
    return override ? { ...free, ...(override as ModelCard) } : free
  }

  return {
    date: /^date: (.*)$/m.exec(DATA)?.[1] ?? '',
    source: /^source: (.*)$/m.exec(DATA)?.[1] ?? '',
    card,
    cost(named, usage) {
      const price = card(named)?.price
      return price && calculateCost(price, usage)
    },
    models: (provider) =>
      listed(provider).map(({ id, createCard: known }) => ({ id, card: card({ provider, model: id }) ?? known(day) })),
  }
}

/** The sections that were parsed, for all catalogs. */
const sections = new Map<string, readonly CatalogEntry[]>()

/** A section is parsed when it is first used: most runs need one. */
function listed(provider: string): readonly CatalogEntry[] {
  const sectionName = providers.find(({ id }) => id === provider)?.labels?.catalog ?? provider
  const section = sections.get(sectionName) ?? readSectionLines(sectionName).map(parseEntry)
  sections.set(sectionName, section)
  return section
}

/** Providers that are not paid per token. */
const FLAT_RATE_PROVIDERS = new Set(['code-assist'])

function withoutPrice({ price: _price, ...card }: ModelCard): ModelCard {
  return card
}

function calculateCost(price: Price, usage: Usage): number {
  const inputTokens = usage.input + usage.cacheRead + usage.cacheWrite
  const rates: TokenRates = price.tiers?.findLast(({ above }) => inputTokens > above) ?? price
  const { input, output, cacheRead = input, cacheWrite = input, reasoning = output } = rates
  return (
    (usage.input * input +
      usage.cacheRead * cacheRead +
      usage.cacheWrite * cacheWrite +
      usage.output * output +
      usage.reasoning * reasoning) /
    1_000_000
  )
}

interface CatalogEntry {
  readonly id: string
  /** The card with the prices of a day. */
  readonly createCard: (day: string) => ModelCard
  readonly matches: (name: string) => boolean
}

function readSectionLines(section: string): string[] {
  const heading = `\n## ${section}\n`
  const start = DATA.indexOf(heading)
  if (start < 0) return []
  const end = DATA.indexOf('\n## ', start + 1)
  const text = DATA.slice(start + heading.length, end < 0 ? DATA.length : end)
  return text.split('\n').filter((line) => line.includes('\t'))
}

/** The data has the first letter of each. */
const ABILITIES = ['tools', 'vision', 'reasoning'] as const

function parseEntry(line: string): CatalogEntry {
  const [id = '', pattern = '', window = '', output = '', abilityLetters = '', prices = ''] = line.split('\t')
  const plain = id.toLowerCase()
  let compiled: RegExp | undefined
  return {
    id,
    createCard(day) {
      const price = parsePrice(prices, day)
      return {
        ...(window !== '' && { window: Number(window) }),
        ...(output !== '' && { output: Number(output) }),
        ...(abilityLetters !== '' && {
          abilities: ABILITIES.filter((ability) => abilityLetters.includes(ability.charAt(0))),
        }),
        ...defined({ price }),
      }
    },
    matches: (name) => name === plain || (pattern !== '' && (compiled ??= new RegExp(pattern, 'i')).test(name)),
  }
}

/** `2/0.2//10 >200000 4/0.4//15; 2027-01-01 …`: prices with tiers, each from a date on. */
function parsePrice(text: string, today: string): Price | undefined {
  const current = text.split('; ').filter((one) => (/^\d{4}-\d\d-\d\d/.exec(one)?.[0] ?? '') <= today)
  const [base = '', ...tiers] = (current.at(-1) ?? '').replace(/^\d{4}-\d\d-\d\d /, '').split(' >')
  if (base === '') return undefined
  const above = tiers.map((tier) => {
    const [start = '', rates = ''] = tier.split(' ')
    return { above: Number(start), ...parseRates(rates) }
  })
  return { ...parseRates(base), ...(above.length > 0 && { tiers: above }) }
}

function parseRates(text: string): TokenRates {
  const [input = '', cacheRead = '', cacheWrite = '', output = '', reasoning = ''] = text.split('/')
  return {
    input: Number(input),
    output: Number(output),
    ...(cacheRead !== '' && { cacheRead: Number(cacheRead) }),
    ...(cacheWrite !== '' && { cacheWrite: Number(cacheWrite) }),
    ...(reasoning !== '' && { reasoning: Number(reasoning) }),
  }
}
