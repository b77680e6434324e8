import type { JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'

/** The list of models or one of them, in the vendor's form; undefined if there is no such model. */
export function createModelList(
  wire: WireId,
  names: readonly string[],
  requestedName: string | undefined,
): JsonObject | undefined {
  const createModel =
    wire === 'anthropic' ? createAnthropicModel : wire === 'gemini' ? createGeminiModel : createOpenAiModel
  if (requestedName !== undefined) return names.includes(requestedName) ? createModel(requestedName) : undefined
  const data = names.map(createModel)
  if (wire === 'gemini') return { models: data }
  if (wire !== 'anthropic') return { object: 'list', data }
  return { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
}

function createOpenAiModel(id: string): JsonObject {
  return { id, object: 'model', created: 1_700_000_000, owned_by: 'rehearsal' }
}

function createAnthropicModel(id: string): JsonObject {
  return { type: 'model', id, display_name: `Rehearsal of ${id}`, created_at: '2023-11-14T22:13:20Z' }
}

function createGeminiModel(id: string): JsonObject {
  return {
    name: `models/${id}`,
    version: '1',
    displayName: `Rehearsal of ${id}`,
    description: 'A script, not a model.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }
}
