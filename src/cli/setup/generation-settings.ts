import { defined } from '../../model/defined.ts'
import { EFFORT_LEVELS, type ModelParams } from '../../model/request.ts'
import type { Profile } from '../../model/profile.ts'
import type { Endpoint } from '../../provider/index.ts'
import type { Config, GenerationConfig } from '../config/schema.ts'

/** How a model generates its answers: the options of the command, or the settings of one model. */
export type GenerationSettings = Pick<ModelParams, 'effort' | 'temperature' | 'topP' | 'maxTokens'>

/** The settings of a model in the config files; of several patterns that match, a later one goes before an earlier one. */
export function findModelSettings(name: string, { models = {} }: Config): GenerationSettings {
  const matching = Object.entries(models).filter(([pattern]) => matchesPattern(name, pattern))
  return toGenerationSettings(Object.assign({}, ...matching.map(([, settings]) => settings)) as GenerationConfig)
}

/** Thinking is asked for where the model has it, unless the user says how much. */
export function createModelParams(settings: GenerationSettings): ModelParams {
  return { thinking: true, ...settings }
}

/** What the user set for a model that does not have it; it is left out of the requests. */
export function listUnusedSettings(settings: GenerationSettings, endpoint: Endpoint): string[] {
  const name = `${endpoint.provider.id}/${endpoint.model}`
  const refused = Object.entries(FIELD_NAMES).filter(
    ([key, field]) =>
      settings[key as keyof typeof FIELD_NAMES] !== undefined && endpoint.profile.refuses?.includes(field),
  )
  const hasNoThinking = settings.effort !== undefined && endpoint.profile.thinking === NO_THINKING
  return [
    ...refused.map(([, field]) => `${name} takes no ${field.replace('_', ' ')}; it is left out.`),
    ...(hasNoThinking ? [`${name} has no setting for its effort; it is left out.`] : []),
  ]
}

const FIELD_NAMES = { temperature: 'temperature', topP: 'top_p' } as const
const NO_THINKING: Profile['thinking'] = 'none'

/** Undefined if it is neither a level nor a number of tokens. */
export function parseEffort(text: string): ModelParams['effort'] {
  const level = EFFORT_LEVELS.find((one) => one === text.trim().toLowerCase())
  if (level !== undefined) return level
  return /^[1-9]\d{0,8}$/.test(text.trim()) ? Number(text) : undefined
}

export const EFFORT_VALUES = `${EFFORT_LEVELS.join(', ')} or a number of tokens`

function toGenerationSettings({ effort, temperature, topP, maxOutputTokens }: GenerationConfig): GenerationSettings {
  return defined({ effort, temperature, topP, maxTokens: maxOutputTokens })
}

/** `*` stands for any text: `openai/gpt-*`. */
function matchesPattern(name: string, pattern: string): boolean {
  const parts = pattern
    .toLowerCase()
    .split('*')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(name.toLowerCase())
}
