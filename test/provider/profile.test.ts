import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WireId } from '../../src/model/turn.ts'
import { completeProfile, findModelFamily, resolveCapabilities } from '../../src/provider/resolve-capabilities.ts'
import type { Capabilities, ProviderDefinition } from '../../src/provider/provider-definition.ts'
import { providers } from '../../src/provider/providers.ts'
import { loadWire } from '../../src/wire/wires.ts'
import { assertCpuTime } from '../support/cpu-time.ts'

function row(id: string): ProviderDefinition {
  const found = providers.find((one) => one.id === id)
  assert.ok(found, id)
  return found
}

/** Flags whose absence means something. */
const OPTIONAL = ['needsReasoning', 'serverTools']

const CASES: readonly [
  id: string,
  model: string,
  facts: { [Flag in keyof Capabilities]: Capabilities[Flag] | undefined },
][] = [
  // T100, T117: Gemini before and since 3.
  [
    'gemini',
    'gemini-3-pro-preview',
    { signatures: 'required', nestedMedia: true, thinking: 'level', window: 1_048_576 },
  ],
  ['gemini', 'gemini-2.5-pro', { signatures: 'optional', nestedMedia: false, thinking: 'budget' }],
  ['gemini', 'gemini-2.0-flash', { signatures: 'never', thinking: 'none' }],
  ['gemini', 'gemini-flash-latest', { thinking: 'level' }],
  ['gemini', 'gemma-3-27b-it', { tools: 'text' }],
  ['code-assist', 'gemini-2.5-flash', { thinking: 'budget' }],
  // T83, T155: Claude's thinking.
  ['anthropic', 'claude-sonnet-4-5-20250929', { thinking: 'budget', window: 200_000 }],
  ['anthropic', 'claude-opus-4-20250514', { thinking: 'budget' }],
  ['anthropic', 'claude-haiku-4-5', { thinking: 'budget' }],
  ['anthropic', 'claude-3-7-sonnet-latest', { thinking: 'budget' }],
  ['anthropic', 'claude-3-5-haiku-latest', { thinking: 'none' }],
  ['anthropic', 'claude-opus-4-6', { thinking: 'adaptive', window: 1_000_000 }],
  ['anthropic', 'claude-opus-4-8', { thinking: 'adaptive', refuses: ['temperature', 'top_p'] }],
  ['anthropic', 'claude-fable-5-2', { thinking: 'adaptive', refuses: ['temperature', 'top_p'] }],
  ['openrouter', 'anthropic/claude-sonnet-4.5', { cache: 'marks' }],
  // The format of an answer, alone and together with tools.
  ['gemini', 'gemini-3-pro-preview', { outputWithTools: true }],
  ['gemini', 'gemini-2.5-pro', { outputWithTools: undefined }],
  ['gemini', 'gemma-3-27b-it', { outputFormat: 'none' }],
  ['anthropic', 'claude-opus-4-20250514', { outputFormat: 'none', thinking: 'budget' }],
  ['anthropic', 'claude-3-5-haiku-latest', { outputFormat: 'none' }],
  ['anthropic', 'claude-opus-4-1', { outputFormat: undefined }],
  ['anthropic', 'claude-sonnet-4-5', { outputFormat: undefined }],
  ['deepseek', 'deepseek-v4-pro', { outputFormat: 'object' }],
  ['minimax', 'MiniMax-M2.7', { outputFormat: 'none' }],
  ['openai-chat', 'gpt-5.4', { outputWithTools: true }],
  ['openai', 'gpt-5.6', { cacheTtlField: 'prompt_cache_options', window: 400_000 }],
  ['openai', 'gpt-6-sol', { cacheTtlField: 'prompt_cache_options' }],
  // T154, T155: OpenAI.
  ['openai', 'gpt-5', { refuses: ['temperature', 'top_p', 'stop'], window: 400_000 }],
  ['openai', 'gpt-6.1-sol', { refuses: ['temperature', 'top_p', 'stop'], window: 1_050_000 }],
  ['openai-chat', 'o4-mini', { refuses: ['temperature', 'top_p', 'stop', 'parallel_tool_calls'] }],
  ['openai-chat', 'gpt-4.1-mini', { thinking: 'none', window: 1_047_576 }],
  ['groq', 'openai/gpt-oss-120b', { media: false, replay: 'never', window: 131_072 }],
  // T42, T71, T74, T75, T79, T86, T95, T96.
  ['xai', 'grok-4.3', { entities: true }],
  ['xai', 'grok-code-fast-1', { entities: true, thinking: 'none' }],
  ['mistral', 'devstral-medium-latest', { ids: 'nine', alternate: true, replay: 'never' }],
  ['openrouter', 'mistralai/devstral-small', { ids: 'nine' }],
  ['moonshot', 'kimi-k2.6', { ids: 'functions', needsReasoning: 'reasoning_content', emptyContent: 'omit' }],
  ['together', 'moonshotai/Kimi-K2-Instruct', { ids: 'functions' }],
  ['deepseek', 'deepseek-v4-pro', { needsReasoning: 'reasoning_content', window: 1_000_000 }],
  ['lmstudio', 'qwen3-8b', { think: true, dialect: 'grammar' }],
  ['zai', 'glm-5', { think: true, window: 200_000 }],
  ['minimax', 'MiniMax-M2.7', { signatures: 'optional', media: false, cache: 'marks' }],
  ['openrouter', 'minimax/minimax-m2.7', { think: true }],
]

for (const [id, model, facts] of CASES) {
  test(`${id}/${model}`, async () => {
    const known = resolveCapabilities(row(id), model)
    for (const [flag, value] of Object.entries(facts)) assert.deepEqual(known[flag as keyof Capabilities], value, flag)
    // Every flag of the whole profile has a value.
    const wire = await loadWire(row(id).wire)
    const whole = completeProfile(wire.profile, known)
    assert.deepEqual(
      Object.keys(whole).filter((flag) => !(flag in wire.profile) && !OPTIONAL.includes(flag)),
      [],
    )
  })
}

test('the signer is the endpoint and the family (T120)', () => {
  assert.equal(resolveCapabilities(row('gemini'), 'gemini-3-pro-preview').signer, 'gemini:gemini-3')
  assert.equal(resolveCapabilities(row('vertex'), 'gemini-3.1-pro-preview').signer, 'vertex:gemini-3')
  assert.equal(resolveCapabilities(row('ollama'), 'something-new').signer, 'ollama:something-new')
})

test('what a model has of its window on one’s own machine is not known (T160)', () => {
  assert.equal(resolveCapabilities(row('ollama'), 'llama3.3').window, undefined)
  assert.equal(resolveCapabilities(row('together'), 'meta-llama/Llama-3.3-70B').window, 131_072)
})

test('no pattern is slow, whatever the name', () => {
  const wires: WireId[] = ['gemini', 'openai-chat', 'anthropic']
  return assertCpuTime(() => {
    for (const wire of wires)
      for (const word of ['qwen', 'gpt-5', 'claude-', '']) findModelFamily(word + '1.'.repeat(20_000), wire)
  }, 2)
})
