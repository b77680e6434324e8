import type { JsonObject } from '../model/json.ts'
import type { ModelOrigin } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import DATA from './catalog-data.md'
import { defined } from '../model/defined.ts'

/** What is known of a model. What is not known is absent; nothing here is a guess. */
export interface ModelCard {
  /** How many tokens it takes in. */
  readonly window?: number
  /** How many tokens it writes in one answer. */
  readonly output?: number
  readonly abilities?: readonly ModelAbility[]
  readonly price?: Price
}

export type ModelAbility = 'tools' | 'vision' | 'reasoning'

/** US dollars for a million tokens. */
export interface TokenRates {
  readonly input: number
  readonly output: number
  /** Like fresh input, where it is not said. */
  readonly cacheRead?: number
  readonly cacheWrite?: number
  /** Like other output, where it is not said. */
  readonly reasoning?: number
}

/** A price; requests that take in more than `above` tokens may have others, for all their tokens. */
export interface Price extends TokenRates {
  readonly tiers?: readonly (TokenRates & { readonly above: number })[]
}

/** Who makes a model, and its name. */
export type ModelName = Pick<ModelOrigin, 'provider' | 'model'>

/** The catalogue: which models there are, and what is known of them. */
export interface Catalog {
  /** When it was made, and out of what. */
  readonly date: string
  readonly source: string
  card(named: ModelName): ModelCard | undefined
  /** What a usage costs in US dollars; undefined where the price is not known. */
  readonly cost: (named: ModelName, usage: Usage) => number | undefined
  /** The models that are known behind a row. */
  models(provider: string): readonly { readonly id: string; readonly card: ModelCard }[]
}

/** Opens the catalogue. `own` says, by `provider/model`, what a person knows better. */
export function createCatalog(overrides: Readonly<Record<string, JsonObject>> = {}, today = new Date()): Catalog {
  const day = today.toISOString().slice(0, 10)
  const sections = new Map<string, readonly CatalogEntry[]>()
  const cards = new Map<string, ModelCard | undefined>()

  /** A section is read when it is first asked for: most runs ask for one. */
  function listed(provider: string): readonly CatalogEntry[] {
    const sectionName = SECTION_BY_PROVIDER[provider] ?? provider
    const section = sections.get(sectionName) ?? readSectionLines(sectionName).map(parseEntry)
    sections.set(sectionName, section)
    return section
  }

  function card(named: ModelName): ModelCard | undefined {
    const key = `${named.provider}/${named.model}`
    if (!cards.has(key)) cards.set(key, find(named))
    return cards.get(key)
  }

  function find({ provider, model }: ModelName): ModelCard | undefined {
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

/** The section in which the models of a row stand, where it has another name. */
const SECTION_BY_PROVIDER: Readonly<Record<string, string>> = {
  gemini: 'google',
  vertex: 'google',
  'code-assist': 'google',
  'gemini-openai': 'google',
  'openai-chat': 'openai',
  xai: 'x-ai',
  moonshot: 'moonshotai',
}

/** Whoever signs in here pays in another way than by the token. */
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
  /** What holds on a day. */
  readonly createCard: (day: string) => ModelCard
  readonly matches: (name: string) => boolean
}

/** The lines of a section of the data: a heading, then a line for each model. */
function readSectionLines(section: string): string[] {
  const heading = `\n## ${section}\n`
  const start = DATA.indexOf(heading)
  if (start < 0) return []
  const end = DATA.indexOf('\n## ', start + 1)
  const text = DATA.slice(start + heading.length, end < 0 ? DATA.length : end)
  return text.split('\n').filter((line) => line.includes('\t'))
}

const ABILITY_BY_LETTER: readonly (readonly [letter: string, ability: ModelAbility])[] = [
  ['t', 'tools'],
  ['v', 'vision'],
  ['r', 'reasoning'],
]

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
          abilities: ABILITY_BY_LETTER.flatMap(([request, one]) => (abilityLetters.includes(request) ? [one] : [])),
        }),
        ...defined({ price }),
      }
    },
    matches: (name) => name === plain || (pattern !== '' && (compiled ??= new RegExp(pattern, 'i')).test(name)),
  }
}

/** `2/0.2//10 >200000 4/0.4//15; 2027-01-01 …`: what holds on a day, with its tiers. */
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
