import {
  type Model,
  findDefaultModel,
  findLocalModel,
  type ResolveError,
  resolveModel,
  type ProviderDefinition,
  parseProvider,
  createModel,
  probeJson,
  getSharedHttpClient,
  providers as table,
  type Endpoint,
  createTimeouts,
  MAX_SILENCE_MS,
  withAdaptation,
  withRetry,
  withServerContextWindow,
} from '../../provider/index.ts'
import { createIncrementalBodyWriter } from '../../wire/history/incremental-body-writer.ts'
import { createLazyCatalog, createCostLimit } from './catalog.ts'
import type { Config } from '../config/schema.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { readSavedCapabilities } from './saved-capabilities.ts'
import { isRehearsalModel, startRehearsalModel } from './rehearsal-model.ts'
import { createCredentialSources } from '../sign-in/credential-sources.ts'
import type { TrafficRecorder } from '../recording/traffic-recorder.ts'

/** A model that can be asked, and how to put it away. */
export interface ChosenModel {
  readonly model: Model
  /** What the person should know of the choice. */
  readonly notices?: readonly string[]
  close(): Promise<void>
}

/** What else decides about a model. */
export interface ModelChoiceOptions {
  /** The model that the session had, to go on with if no other is named. */
  readonly recalled?: string | undefined
  /** In US dollars. */
  readonly maxCost?: number | undefined
  /** Watches what goes over the wire. */
  readonly tap?: TrafficRecorder | undefined
}

/** The model that a name means; without a name, the one that this machine is set up for. */
export async function chooseModel(
  name: string | undefined,
  config: Config = {},
  { recalled, maxCost, tap }: ModelChoiceOptions = {},
): Promise<ChosenModel> {
  const problem = name === undefined && recalled !== undefined ? findModelProblem(recalled, config)?.problem : undefined
  const chosen = name ?? (problem === undefined ? recalled : undefined) ?? (await detectModel(config))
  if (chosen === undefined) throw new UserError(problem ?? NO_MODEL_MESSAGE, 41)
  const limited = createCostLimit(maxCost, createLazyCatalog(config))
  const notices =
    problem === undefined
      ? []
      : [`This session was held with ${recalled}, which cannot be used here: ${problem} Going on with ${chosen}.`]
  const names = findUsableModels(splitModelNames(chosen, config), config, (notice) => notices.push(notice))
  const opened: ChosenModel[] = []
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())))
  try {
    for (const one of names) opened.push(await openModel(one, config, createModelOpener(tap, config)))
    const [main, ...rest] = await Promise.all(
      opened.map(async (one) => withRetry(await limited(one.model), { total: requestTimeoutMs(config) })),
    )
    if (!main) throw new UserError(NO_MODEL_MESSAGE, 41)
    const chain =
      rest.length === 0 ? main : (await import('../../provider/optional-middleware.ts')).withFallback([main, ...rest])
    return {
      model:
        tap?.withRequestRecording(
          chain,
          opened.map((one) => one.model.origin),
        ) ?? chain,
      notices,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The models that are meant: `-m a,b,c` is a list, each asked when the one before cannot answer; the settings may name more. */
function splitModelNames(chosen: string, { fallback = [] }: Config): readonly string[] {
  const named = chosen.split(',').map((one) => one.trim())
  return [...new Set([...named, ...(named.length === 1 ? fallback : [])])].filter((one) => one !== '')
}

/**
 * Those of a list that can be used here; of the others the person is told. If the first one is written wrong, or none is
 * left, that is a complaint about the first.
 */
function findUsableModels(names: readonly string[], config: Config, warn: (notice: string) => void): readonly string[] {
  const checkedNames = names.map((name) => ({ name, trouble: findModelProblem(name, config) }))
  const usable = checkedNames.flatMap(({ name, trouble: nameProblem }) => (nameProblem ? [] : [name]))
  const first = checkedNames[0]?.trouble
  if (first && (first.code !== EXIT_CODE.signIn || usable.length === 0)) throw new UserError(first.problem, first.code)
  for (const { name, trouble: nameProblem } of checkedNames)
    if (nameProblem) warn(`${name} cannot be used here: ${nameProblem.problem}`)
  return usable
}

/** A model without patience: each attempt is paid for, so each must fit into the limit, which comes before it. */
async function openModel(name: string, config: Config, open: (target: Endpoint) => Model): Promise<ChosenModel> {
  if (isRehearsalModel(name)) {
    const { endpoint: rehearsalEndpoint, close } = await startRehearsalModel(name, 'hello')
    return { model: open(rehearsalEndpoint), close }
  }
  const target = resolveEndpoint(name, config)
  if ('problem' in target) throw new UserError(target.problem, target.code)
  const own = withConfiguredWindow(target, config)
  const opened = withAdaptation(own, open)
  // What the person's settings say of the window goes before what the server says.
  return {
    model: own === target ? withServerContextWindow(opened, target, getSharedHttpClient) : opened,
    close: () => Promise.resolve(),
  }
}

/** Why a name leads nowhere here. */
function findModelProblem(name: string, config: Config): ResolveError | undefined {
  if (isRehearsalModel(name)) return undefined
  const target = resolveEndpoint(name, config)
  return 'problem' in target ? target : undefined
}

/** Where a name leads here, with the flags that `dragoman doctor` has found out. */
function resolveEndpoint(name: string, config: Config): ReturnType<typeof resolveModel> {
  return resolveModel(name, process.env, listProviders(config), createCredentialSources(), readSavedCapabilities)
}

/** What the person's settings say of a model's window comes before what we know of its family. */
function withConfiguredWindow(target: Endpoint, { catalog = {} }: Config): Endpoint {
  const window = catalog[`${target.provider.id}/${target.model}`]?.['window']
  return typeof window === 'number' ? { ...target, profile: { ...target.profile, window } } : target
}

/** Opens ports that do not write again what they have written. */
function createModelOpener(tap: TrafficRecorder | undefined, config: Config): (target: Endpoint) => Model {
  const limits = createTimeouts(requestTimeoutMs(config))
  return (target) => {
    tap?.onEndpoint(target)
    return createModel(target, {
      createBodyWriter: createIncrementalBodyWriter,
      timeouts: limits,
      ...(tap && { httpClient: tap.httpClient }),
    })
  }
}

/** How long a request may go without progress, in milliseconds. */
function requestTimeoutMs({ requestTimeout }: Config): number {
  return requestTimeout === undefined ? MAX_SILENCE_MS : requestTimeout * 1000
}

/** The model of the first key in the environment or of those stored, or of a server that answers on this machine. */
export async function detectModel(config: Config = {}): Promise<string | undefined> {
  return findConfiguredModel(config) ?? (await findLocalModel(probeJson, listProviders(config), process.env))
}

/** The same, without a look for servers. */
export function findConfiguredModel(config: Config): string | undefined {
  return (
    process.env['DRAGOMAN_MODEL'] ||
    config.model ||
    findDefaultModel(process.env, listProviders(config), createCredentialSources()) ||
    undefined
  )
}

/** The table, with the person's own rows before it; one of theirs may change one of ours. */
export function listProviders({ providers = {} }: Config): readonly ProviderDefinition[] {
  const own = Object.entries(providers).map(([id, json]) => {
    const base = table.find((row) => row.id === id)
    const read = parseProvider(id, json, base)
    if ('problem' in read) throw new UserError(read.problem, EXIT_CODE.config)
    return read.provider
  })
  return own.length === 0 ? table : [...own, ...table.filter(({ id }) => !own.some((row) => row.id === id))]
}

const NO_MODEL_MESSAGE =
  'no model is configured: set a key (GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or start a local server (Ollama, LM Studio, llama.cpp), or take the tour: dragoman tour'
