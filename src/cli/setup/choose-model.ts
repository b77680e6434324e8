import {
  type Model,
  findDefaultModel,
  findLocalModel,
  findProvider,
  type ResolveError,
  resolveModel,
  type ProviderDefinition,
  parseProvider,
  openEndpoint,
  wrapInsideRetry,
  probeJson,
  getSharedHttpClient,
  providers as table,
  type Endpoint,
  withDefaultParams,
} from '../../provider/index.ts'
import { matchSimilarNames } from '../../schema/similar-names.ts'
import { createLazyCatalog, createCostLimit } from './catalog.ts'
import type { Config } from '../config/schema.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import {
  createModelParams,
  findModelSettings,
  type GenerationSettings,
  listUnusedSettings,
} from './generation-settings.ts'
import { readSavedCapabilities } from './saved-capabilities.ts'
import { isRehearsalModel, startRehearsalModel } from './rehearsal-model.ts'
import { createCredentialSources } from '../sign-in/credential-sources.ts'
import type { TrafficRecorder } from '../recording/traffic-recorder.ts'

export interface ChosenModel {
  readonly model: Model
  /** What each request of the model contains, unless the run says otherwise. */
  readonly settings: GenerationSettings
  readonly notices?: readonly string[]
  /** Applies the cost limit to another model, so that both share it. */
  readonly limitCost: CostLimit
  close(): Promise<void>
}

type CostLimit = ReturnType<typeof createCostLimit>

interface ModelChoiceOptions {
  /** The model of the resumed session, used if no other is named. */
  readonly recalled?: string | undefined
  /** In US dollars. */
  readonly maxCost?: number | undefined
  /** The limit of another model, in place of `maxCost`. */
  readonly limitCost?: CostLimit
  readonly tap?: TrafficRecorder | undefined
  /** The options of the command; they override the settings of a model. */
  readonly generation?: GenerationSettings
}

/** A model without limits and settings. */
interface OpenedModel {
  readonly model: Model
  readonly endpoint: Endpoint
  close(): Promise<void>
}

/** Opens the model with this name; without a name, the one that is configured on this machine. */
export async function chooseModel(
  name: string | undefined,
  config: Config = {},
  { recalled, maxCost, tap, generation = {}, limitCost: sharedLimit }: ModelChoiceOptions = {},
): Promise<ChosenModel> {
  const problem = name === undefined && recalled !== undefined ? findModelProblem(recalled, config)?.problem : undefined
  const chosen = name ?? (problem === undefined ? recalled : undefined) ?? (await detectModel(config))
  if (chosen === undefined) throw new UserError(problem ?? NO_MODEL_MESSAGE, EXIT_CODE.signIn)
  const limitCost = sharedLimit ?? createCostLimit(maxCost, createLazyCatalog(config))
  const notices =
    problem === undefined
      ? []
      : [`This session used ${recalled}, which is not available: ${problem} Continuing with ${chosen}.`]
  const names = findUsableModels(splitModelNames(chosen, config), config, (notice) => notices.push(notice))
  const opened: OpenedModel[] = []
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())))
  try {
    for (const one of names) opened.push(await openModel(one, config, tap))
    const settings = opened.map(({ endpoint: { provider, model } }) => ({
      ...findModelSettings(`${provider.id}/${model}`, config),
      ...generation,
    }))
    for (const [at, { endpoint }] of opened.entries()) notices.push(...listUnusedSettings(settings[at] ?? {}, endpoint))
    const [main, ...rest] = await Promise.all(
      // Each attempt costs money, so the limit comes inside of the retries.
      opened.map(async ({ model }) => wrapInsideRetry(model, await limitCost(model.origin))),
    )
    if (!main) throw new UserError(NO_MODEL_MESSAGE, EXIT_CODE.signIn)
    const origins = opened.map((one) => one.model.origin)
    const record = (model: Model): Model => tap?.withRequestRecording(model, origins) ?? model
    const withSettings = (model: Model, at: number): Model =>
      withDefaultParams(model, createModelParams(settings[at] ?? {}))
    const chosenSettings = { settings: settings[0] ?? {}, notices, limitCost, close }
    // A recording has the parameters, unless each model has its own.
    if (rest.length === 0) return { model: withSettings(record(main), 0), ...chosenSettings }
    const { withFallback } = await import('../../provider/optional-middleware.ts')
    return {
      model: record(withFallback([withSettings(main, 0), ...rest.map((model, at) => withSettings(model, at + 1))])),
      ...chosenSettings,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** `-m a,b,c` is a list, each used if the one before cannot answer; for one model the settings may name fallbacks. */
function splitModelNames(chosen: string, { fallback = [] }: Config): readonly string[] {
  const named = chosen.split(',').map((one) => one.trim())
  return [...new Set([...named, ...(named.length === 1 ? fallback : [])])].filter((one) => one !== '')
}

/** The models of a list that can be used; fails if the first one is not a model, or none is left. */
function findUsableModels(names: readonly string[], config: Config, warn: (notice: string) => void): readonly string[] {
  const checked = names.map((name) => ({ name, error: findModelProblem(name, config) }))
  const usable = checked.flatMap(({ name, error }) => (error ? [] : [name]))
  const first = checked[0]?.error
  if (first && (first.code !== EXIT_CODE.signIn || usable.length === 0)) throw new UserError(first.problem, first.code)
  for (const { name, error } of checked) if (error) warn(`${name} is not available: ${error.problem}`)
  return usable
}

async function openModel(name: string, config: Config, tap: TrafficRecorder | undefined): Promise<OpenedModel> {
  const { endpoint, close } = isRehearsalModel(name)
    ? await startRehearsalModel(name, 'hello')
    : { endpoint: resolveEndpoint(name, config), close: () => Promise.resolve() }
  if ('problem' in endpoint) throw new UserError(endpoint.problem, endpoint.code)
  const { catalog = {}, requestTimeout } = config
  const window = catalog[`${endpoint.provider.id}/${endpoint.model}`]?.['window']
  const model = openEndpoint(endpoint, {
    probeClient: getSharedHttpClient,
    window: typeof window === 'number' ? window : undefined,
    ...(requestTimeout !== undefined && { maxSilenceMs: requestTimeout * 1000 }),
    ...(tap && { httpClient: () => tap.httpClient, onEndpoint: tap.onEndpoint }),
  })
  return { model, endpoint, close }
}

/** Why a model cannot be used here; undefined if it can. */
export function findModelProblem(name: string, config: Config): ResolveError | undefined {
  if (isRehearsalModel(name)) return undefined
  const target = resolveEndpoint(name, config)
  return 'problem' in target ? target : undefined
}

function resolveEndpoint(name: string, config: Config): ReturnType<typeof resolveModel> {
  return resolveModel(name, process.env, listProviders(config), createCredentialSources(), readSavedCapabilities)
}

/** The default model: that of the settings, of the first key, or of a server on this machine. */
export async function detectModel(config: Config = {}): Promise<string | undefined> {
  return findConfiguredModel(config) ?? (await findLocalModel(probeJson, listProviders(config), process.env))
}

/** The same, without probing for servers. */
export function findConfiguredModel(config: Config): string | undefined {
  return (
    process.env['DRAGOMAN_MODEL'] ||
    config.model ||
    findDefaultModel(process.env, listProviders(config), createCredentialSources()) ||
    undefined
  )
}

/** The user's providers, then the built-in ones; a user's provider may replace a built-in one. */
export function listProviders({ providers = {} }: Config): readonly ProviderDefinition[] {
  const own = Object.entries(providers).map(([id, json]) => {
    const base = table.find((row) => row.id === id)
    const read = parseProvider(id, json, base)
    if ('problem' in read) throw new UserError(read.problem, EXIT_CODE.config)
    return read.provider
  })
  return own.length === 0 ? table : [...own, ...table.filter(({ id }) => !own.some((row) => row.id === id))]
}

/** The provider with this name; otherwise an error with the nearest name. */
export function findProviderById(name: string, rows: readonly ProviderDefinition[]): ProviderDefinition {
  const ids = rows.map(({ id }) => id)
  const found = findProvider(name, rows)
  if (found) return found
  const suggestion = matchSimilarNames([name], ids).get(name)
  const hint = suggestion === undefined ? `the providers are ${ids.join(', ')}` : `did you mean ${suggestion}?`
  throw new UserError(`unknown provider “${name}”; ${hint}`)
}

const NO_MODEL_MESSAGE =
  'no model is configured: set a key (GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or start a local server (Ollama, LM Studio, llama.cpp); to try a scripted demo, run dragoman tour'
