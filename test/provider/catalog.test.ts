import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calcPrice } from '@pydantic/genai-prices'
import { NO_USAGE } from '../../src/model/usage.ts'
import { createCatalog } from '../../src/provider/catalog.ts'
import { providers } from '../../src/provider/providers.ts'

const day = (date: string) => createCatalog({}, new Date(`${date}T12:00:00Z`))
const catalog = day('2026-11-20')

const close = (one: number | undefined, other: number) =>
  assert.ok(one !== undefined && Math.abs(one - other) < 1e-9, `${one} is not ${other}`)

test('it says when it was made, and out of what', () => {
  assert.match(catalog.date, /^\d{4}-\d\d-\d\d$/)
  assert.match(catalog.source, /genai-prices \d+\.\d+/)
})

test('a model by any of its names, at any of its doors', () => {
  for (const [provider, model] of [
    ['gemini', 'gemini-2.5-pro'],
    ['gemini', 'models/gemini-2.5-pro'],
    ['vertex', 'gemini-2.5-pro'],
    ['gemini-openai', 'gemini-2.5-pro'],
    ['openai', 'gpt-5.2-2025-12-11'],
    ['openai-chat', 'GPT-5.2'],
    ['anthropic', 'claude-sonnet-4-5-20250929'],
    ['openrouter', 'google/gemini-2.5-pro'],
    ['groq', 'openai/gpt-oss-120b'],
    ['fireworks', 'accounts/fireworks/models/gpt-oss-120b'],
    ['moonshot', 'kimi-k2.6'],
    ['xai', 'grok-4'],
  ] as const) {
    const card = catalog.card({ provider, model })
    assert.ok(card?.price, `${provider}/${model} has a price`)
  }
  const { window, output, abilities } = catalog.card({ provider: 'gemini', model: 'gemini-2.5-pro' }) ?? {}
  assert.deepEqual([window, output, abilities], [1_048_576, 65_536, ['tools', 'vision', 'reasoning']])
})

test('a price that is not known is not nothing', () => {
  for (const [provider, model] of [
    ['openai', 'gpt-99'],
    ['ollama', 'qwen3:8b'],
    ['rehearsal', 'hello'],
    ['nobody', 'gpt-5.2'],
    // A newer version is another model, with a price of its own.
    ['anthropic', 'claude-sonnet-4-7'],
    // Whoever signs in there does not pay by the token.
    ['code-assist', 'gemini-2.5-pro'],
  ] as const)
    assert.equal(catalog.cost({ provider, model }, { ...NO_USAGE, input: 10 }), undefined, `${provider}/${model}`)
})

test('every kind of token has its price, and long requests may have another', () => {
  const usage = { input: 1000, cacheRead: 2000, cacheWrite: 3000, output: 400, reasoning: 100 }
  const sonnet = { provider: 'anthropic', model: 'claude-sonnet-4-6' }
  close(catalog.cost(sonnet, usage), (1000 * 3 + 2000 * 0.3 + 3000 * 3.75 + 500 * 15) / 1e6)
  const gemini = { provider: 'gemini', model: 'gemini-2.5-pro' }
  close(catalog.cost(gemini, { ...NO_USAGE, input: 200_000, output: 10 }), (200_000 * 1.25 + 10 * 10) / 1e6)
  close(
    catalog.cost(gemini, { ...NO_USAGE, input: 1, cacheRead: 200_000, output: 10 }),
    (2.5 + 200_000 * 0.25 + 10 * 15) / 1e6,
  )
})

test('a price that was announced holds from its day on', () => {
  const flash = { provider: 'gemini', model: 'gemini-3.8-flash' }
  const million = { ...NO_USAGE, input: 1_000_000 }
  close(day('2026-12-31').cost(flash, million), 0.75)
  close(day('2027-01-01').cost(flash, million), 1.5)
})

test('what it was made of agrees: every model of every vendor, for a short and a long request', () => {
  const homes = { anthropic: 'anthropic', openai: 'openai', google: 'gemini', deepseek: 'deepseek', mistral: 'mistral' }
  let compared = 0
  for (const [source, provider] of Object.entries(homes)) {
    for (const { id, card } of catalog.models(provider)) {
      // Where the price depends on the hour, ours is the dearest.
      if (!card.price || source === 'deepseek') continue
      for (const input of [1000, 300_000]) {
        const theirs = calcPrice({ input_tokens: input + 50, cache_read_tokens: 50, output_tokens: 10 }, id, {
          providerId: source,
          timestamp: new Date('2026-11-20T12:00:00Z'),
        })
        if (!theirs || theirs.model.id !== id) continue
        close(
          catalog.cost({ provider, model: id }, { ...NO_USAGE, input, cacheRead: 50, output: 10 }),
          theirs.total_price,
        )
        compared++
      }
    }
  }
  assert.ok(compared > 150, `only ${compared} were compared`)
})

test('a person knows better', () => {
  const own = createCatalog({
    'ollama/qwen3:8b': { window: 32_768, price: { input: 0, output: 0 } },
    'openai/gpt-5.2': { window: 1000 },
  })
  assert.equal(own.cost({ provider: 'ollama', model: 'qwen3:8b' }, { ...NO_USAGE, input: 10 }), 0)
  assert.equal(own.card({ provider: 'openai', model: 'gpt-5.2' })?.window, 1000)
  assert.ok(own.card({ provider: 'openai', model: 'gpt-5.2' })?.price, 'the rest stays')
})

test('every vendor of whom the source knows has models here', () => {
  const known = providers.filter(({ id }) => catalog.models(id).length > 0).map(({ id }) => id)
  for (const id of [
    'gemini',
    'anthropic',
    'openai',
    'openrouter',
    'deepseek',
    'xai',
    'mistral',
    'zai',
    'minimax',
    'together',
  ])
    assert.ok(known.includes(id), id)
})

/** Why the usual model of a row has no price; of all others it is known, so that `--max-cost` holds without more ado. */
const UNPRICED: Readonly<Record<string, string>> = {
  openrouter: 'it chooses the model itself',
  kilocode: 'it chooses the model itself',
  dashscope: 'nobody told us its prices',
  together: 'nobody told us the prices of its newer models',
  deepinfra: 'nobody told us its prices',
  featherless: 'nobody told us its prices',
  'code-assist': 'it is not paid by the token',
  ...Object.fromEntries(
    'bedrock bedrock-responses cloudflare cloudflare-gateway github huggingface nebius nvidia perplexity sambanova snowflake vercel'
      .split(' ')
      .map((id) => [id, 'the source of the catalogue has no prices of it']),
  ),
}

test('the usual model of a row has a price', () => {
  const usual = providers.filter((row) => row.model !== undefined)
  const without = usual.filter(({ id, model = '' }) => !catalog.card({ provider: id, model })?.price)
  assert.deepEqual(without.map(({ id }) => id).toSorted(), Object.keys(UNPRICED).toSorted())
})
