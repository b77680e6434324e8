// Writes src/provider/catalog-data.md: what models cost and take in, out of @pydantic/genai-prices (data only, MIT) and
// of our own short table of limits. `npm i -D -E @pydantic/genai-prices@latest && node scripts/refresh-catalog.mjs`
import { createRequire } from 'node:module'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findProvider } from '@pydantic/genai-prices'
import { limits } from './lib/catalog-limits.mjs'
import { inRoot } from './lib/files.mjs'

const SOURCES = [
  'anthropic',
  'cerebras',
  'deepseek',
  'fireworks',
  'google',
  'groq',
  'minimax',
  'mistral',
  'moonshotai',
  'openai',
  'openrouter',
  'together',
  'x-ai',
  'zai',
]

const KEYS = ['input_mtok', 'cache_read_mtok', 'cache_write_mtok', 'output_mtok', 'output_reasoning_mtok']

const today = new Date().toISOString().slice(0, 10)
const main = createRequire(import.meta.url).resolve('@pydantic/genai-prices')
const { version } = JSON.parse(readFileSync(join(dirname(main), '..', 'package.json'), 'utf8'))
const sections = SOURCES.map((id) => {
  const models = findProvider({ providerId: id }).models.flatMap(lineOf)
  return `## ${id}\n\n${models.join('\n')}\n`
})
const head = `# What models take in, write and cost

Written by scripts/refresh-catalog.mjs; do not edit. The columns, between tabs: the name; a pattern for all its names, if
there are more; tokens in; tokens out; abilities (t: tools, v: vision, r: reasoning); US dollars for a million tokens
(input/cache read/cache write/output/reasoning), with “>n” for requests that take in more, and a date where it changes.

date: ${today}
source: @pydantic/genai-prices ${version} (MIT), and our own table of limits
`
writeFileSync(inRoot('src/provider/catalog-data.md'), `${head}\n${sections.join('\n')}`)
console.log(`${sections.join('\n').match(/^.*\t.*$/gm).length} models of ${SOURCES.length} vendors, as of ${today}`)

function lineOf(model) {
  const name = model.id.split('/').at(-1).toLowerCase()
  const known = Object.assign(
    {},
    ...limits
      .filter(([pattern]) => pattern.test(name))
      .map(([, facts]) => facts)
      .reverse(),
  )
  const price = priceOf(model.prices)
  if (known.skip || (price === '' && model.context_window === undefined)) return []
  const pattern = patternOf(model.match)
  const plain = pattern === `^${escaped(model.id)}$`
  const window = model.context_window ?? known.window ?? ''
  const output = known.output !== undefined && (window === '' || known.output <= window) ? known.output : ''
  return [[model.id, plain ? '' : pattern, window, output, known.can ?? '', price].join('\t').trimEnd()]
}

/** One pattern for all the names of a model. A beginning does not reach into the next version: 5 is not 5.5. */
function patternOf(match) {
  if ('or' in match) return [...new Set(match.or.map(patternOf))].join('|')
  if ('and' in match)
    return `^${match.and.map((one) => `(?=.*?(?:${patternOf(one).replace(/^\^/, '(?<![^])')}))`).join('')}`
  if ('equals' in match) return `^${escaped(match.equals)}$`
  if ('starts_with' in match)
    return `^${escaped(match.starts_with)}${/\d$/.test(match.starts_with) ? '(?![.-]?\\d{1,2}(?!\\d))' : ''}`
  if ('ends_with' in match) return `${escaped(match.ends_with)}$`
  return 'contains' in match ? escaped(match.contains) : match.regex
}

function escaped(text) {
  return text.toLowerCase().replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** The price of today, and announced ones; if it depends on the hour, the highest, so that a cost limit holds. */
function priceOf(prices) {
  const list = Array.isArray(prices) ? prices : [{ prices }]
  const dated = list.filter(({ constraint }) => constraint?.type !== 'time_of_date')
  const hourly = list.filter(({ constraint }) => constraint?.type === 'time_of_date')
  const from = (one) => one.constraint?.start_date ?? ''
  const sorted = [...dated].sort((a, b) => from(a).localeCompare(from(b)))
  const now = sorted.findLast((one) => from(one) <= today) ?? sorted[0]
  const dearest = [now, ...hourly].sort((a, b) => base(b.prices.output_mtok) - base(a.prices.output_mtok))[0]
  const later = sorted.filter((one) => from(one) > today)
  const written = [ratesOf(dearest?.prices ?? {}), ...later.map((one) => `${from(one)} ${ratesOf(one.prices)}`)]
  return written[0] === '' ? '' : written.join('; ')
}

function ratesOf(prices) {
  if (prices.input_mtok === undefined || prices.output_mtok === undefined) return ''
  const starts = [...new Set(KEYS.flatMap((key) => (prices[key]?.tiers ?? []).map(({ start }) => start)))]
  const at = (start) => rates(KEYS.map((key) => rateAt(prices[key], start)))
  return [at(-1), ...starts.sort((a, b) => a - b).map((start) => `>${start} ${at(start)}`)].join(' ')
}

function rates(numbers) {
  return numbers
    .map((number) => number ?? '')
    .join('/')
    .replace(/\/$/, '')
}

function rateAt(price, start) {
  if (price === undefined || typeof price === 'number') return price
  return price.tiers.filter((tier) => tier.start <= start).at(-1)?.price ?? price.base
}

function base(price) {
  return typeof price === 'number' ? price : (price?.base ?? 0)
}
