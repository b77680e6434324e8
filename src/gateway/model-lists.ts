import type { JsonObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'

/**
 * The list of models or one of them, in the form of the client's API; undefined if there is no such model. Codex asks with its
 * version, and its form needs the instructions of each model, which only its vendor has: an empty list makes it use its own.
 */
export function createModelList(
  wire: WireId,
  names: readonly string[],
  requested: { readonly name?: string | undefined; readonly isCodex: boolean },
): JsonObject | undefined {
  const { name, isCodex } = requested
  const toModel = wire === 'anthropic' ? toAnthropicModel : wire === 'gemini' ? toGeminiModel : toOpenAiModel
  if (name !== undefined) return names.includes(name) ? toModel(name) : undefined
  if (isCodex) return { models: [] }
  const data = names.map(toModel)
  if (wire === 'gemini') return { models: data }
  if (wire !== 'anthropic') return { object: 'list', data }
  return { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
}

function toOpenAiModel(id: string): JsonObject {
  return { id, object: 'model', created: 0, owned_by: 'dragoman' }
}

function toAnthropicModel(id: string): JsonObject {
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

function toGeminiModel(id: string): JsonObject {
  return {
    name: `models/${id}`,
    version: '1',
    displayName: id,
    description: 'A model behind Dragoman’s gateway.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }
}
