import { isObject, type Json, type JsonObject, objectOrEmpty, toCanonicalJson } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { OtherFields, ProviderOptions } from '../../model/provider-options.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { WireId } from '../../model/turn.ts'
import { collectDeclaredTools } from '../late-tools.ts'

/** The provider options by wire; Code Assist has those of Gemini. */
export type OptionsKey = keyof ProviderOptions

export function getOptionsKey(wire: WireId): OptionsKey {
  return wire === 'code-assist' ? 'gemini' : wire
}

/** A setting that several APIs have, under different names. */
interface SharedSetting {
  /** Its paths in the provider options of each API. An API may have more than one name for it. */
  readonly paths: Readonly<Partial<Record<OptionsKey, readonly string[]>>>
  /** The values that can be handed over. */
  readonly accepts?: (value: unknown) => boolean
  /** The values that mean the same, where they differ; all others are not handed over. */
  readonly values?: readonly Readonly<Partial<Record<OptionsKey, Json>>>[]
  /** It is a format of the answer, which not every model accepts beside tools. */
  readonly isOutputFormat?: true
}

/** What is not in this table has no counterpart, or one that means something else. */
const SHARED_SETTINGS: readonly SharedSetting[] = [
  {
    paths: { 'openai-chat': ['seed'], gemini: ['generationConfig.seed'], interactions: ['generation_config.seed'] },
    accepts: (value) => typeof value === 'number' && value === (value | 0),
  },
  { paths: { anthropic: ['top_k'], gemini: ['generationConfig.topK'] }, accepts: isNumber },
  {
    paths: { 'openai-chat': ['frequency_penalty'], gemini: ['generationConfig.frequencyPenalty'] },
    accepts: isNumber,
  },
  {
    paths: { 'openai-chat': ['presence_penalty'], gemini: ['generationConfig.presencePenalty'] },
    accepts: isNumber,
  },
  {
    paths: {
      anthropic: ['metadata.user_id'],
      'openai-chat': ['safety_identifier', 'user'],
      'openai-responses': ['safety_identifier', 'user'],
    },
    accepts: (value) => typeof value === 'string',
  },
  { paths: { 'openai-chat': ['metadata'], 'openai-responses': ['metadata'] }, accepts: isObject },
  { paths: { 'openai-chat': ['verbosity'], 'openai-responses': ['text.verbosity'] } },
  { paths: { gemini: ['labels'], interactions: ['labels'] }, accepts: isObject },
  {
    paths: {
      'openai-chat': ['response_format'],
      'openai-responses': ['text.format'],
      gemini: ['generationConfig.responseMimeType'],
      interactions: ['response_format'],
    },
    values: [
      {
        'openai-chat': { type: 'json_object' },
        'openai-responses': { type: 'json_object' },
        gemini: 'application/json',
        interactions: { type: 'text', mime_type: 'application/json' },
      },
    ],
    isOutputFormat: true,
  },
  {
    paths: {
      'openai-chat': ['service_tier'],
      'openai-responses': ['service_tier'],
      gemini: ['serviceTier'],
      interactions: ['service_tier'],
    },
    values: [
      ...['flex', 'priority'].map((tier) => ({
        'openai-chat': tier,
        'openai-responses': tier,
        gemini: tier,
        interactions: tier,
      })),
      { 'openai-chat': 'default', 'openai-responses': 'default', gemini: 'standard', interactions: 'standard' },
      ...['auto', 'scale', 'fast'].map((tier) => ({ 'openai-chat': tier, 'openai-responses': tier })),
    ],
  },
]

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

/**
 * The request with the provider options of other APIs that this wire has under another name. What is left of the others has
 * no counterpart; see lost-content.ts.
 */
export function translateSettings(request: ModelRequest, wire: WireId, profile: Profile): ModelRequest {
  const target = getOptionsKey(wire)
  const sources = (Object.keys(request.providerOptions ?? {}) as OptionsKey[]).filter((key) => key !== target)
  if (sources.length === 0) return request
  const settings = SHARED_SETTINGS.filter((setting) => !setting.isOutputFormat || canSetFormat(request, profile))
  let options: Readonly<Partial<Record<OptionsKey, OtherFields>>> = { ...request.providerOptions }
  for (const source of sources)
    for (const { paths, accepts, values } of settings)
      for (const [at, path] of (paths[source] ?? []).entries()) {
        const value = getPath(options[source], path.split('.'))
        if (value === undefined || (accepts && !accepts(value))) continue
        const meaning = values?.find((row) => row[source] !== undefined && isSame(row[source], value))
        const translated = values ? meaning?.[target] : (value as Json)
        const [free] = listTargets(paths[target] ?? [], at).filter(
          (one) => getPath(options[target], one.split('.')) === undefined,
        )
        if (translated === undefined || free === undefined) continue
        options = {
          ...options,
          [source]: setPath(options[source], path.split('.'), undefined),
          [target]: setPath(options[target], free.split('.'), translated),
        }
      }
  const filled = Object.entries(options).filter(([, fields]) => Object.keys(fields ?? {}).length > 0)
  return { ...request, providerOptions: Object.fromEntries(filled) }
}

/** May a format be sent? A schema says more than that the answer is JSON. */
function canSetFormat(request: ModelRequest, profile: Profile): boolean {
  if (request.output || profile.outputFormat === 'none') return false
  const { tools, hostedTools = [], serverTools = [] } = request
  const hasTools =
    collectDeclaredTools(request).known.length + tools.length + hostedTools.length + serverTools.length > 0
  return profile.outputWithTools || !hasTools
}

/** The name at the same place first: `user` becomes `user` where there is one. */
function listTargets(paths: readonly string[], at: number): readonly string[] {
  const same = paths[at]
  return same === undefined ? paths : [same, ...paths]
}

function isSame(one: unknown, other: unknown): boolean {
  return toCanonicalJson(one) === toCanonicalJson(other)
}

function getPath(fields: unknown, [name, ...deeper]: readonly string[]): unknown {
  if (name === undefined) return fields
  return isObject(fields) ? getPath(fields[findKey(fields, name)], deeper) : undefined
}

/** Objects that become empty are removed with their last field. */
function setPath(fields: unknown, [name = '', ...deeper]: readonly string[], value: Json | undefined): OtherFields {
  const object = objectOrEmpty(fields) as JsonObject
  const key = findKey(object, name)
  const { [key]: before, ...others } = object
  const after = deeper.length === 0 ? value : setPath(before, deeper, value)
  const isEmpty = after === undefined || (deeper.length > 0 && Object.keys(after as object).length === 0)
  return isEmpty ? others : { ...object, [key]: after }
}

/** Google accepts names in camel case and in snake case. */
function findKey(fields: object, name: string): string {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return !Object.hasOwn(fields, name) && Object.hasOwn(fields, snake) ? snake : name
}
