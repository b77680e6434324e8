import type { JsonObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'
import { toCodexModel } from './codex-models.ts'

/** A model that clients can ask for. */
export interface ListedModel {
  readonly name: string
  /** In tokens, if it is known. */
  readonly contextWindow?: number
}

/** The list of models or one of them, in the form of the client's API; undefined if there is no such model. */
export function createModelList(
  wire: WireId,
  models: readonly ListedModel[],
  requested: { readonly name?: string | undefined; readonly isCodex: boolean },
): JsonObject | undefined {
  const { name, isCodex } = requested
  const toModel = wire === 'anthropic' ? toAnthropicModel : wire === 'gemini' ? toGeminiModel : toOpenAiModel
  const names = models.map((model) => model.name)
  if (name !== undefined) return models.flatMap((model) => (model.name === name ? [toModel(model)] : []))[0]
  if (isCodex)
    return { models: models.map((model, at) => toCodexModel(model.name, at, model.contextWindow ?? USUAL_WINDOW)) }
  const data = models.map(toModel)
  if (wire === 'gemini') return { models: data }
  if (wire !== 'anthropic') return { object: 'list', data }
  return { data, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
}

/** For a client that must know one: it compacts its history in time for most models. */
const USUAL_WINDOW = 128_000

function toOpenAiModel({ name: id }: ListedModel): JsonObject {
  return { id, object: 'model', created: 0, owned_by: 'dragoman' }
}

function toAnthropicModel({ name: id }: ListedModel): JsonObject {
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

function toGeminiModel({ name: id, contextWindow }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    version: '1',
    displayName: id,
    description: 'A model behind Dragoman’s gateway.',
    inputTokenLimit: contextWindow ?? 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }
}
