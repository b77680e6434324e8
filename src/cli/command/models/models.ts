import type { Catalog, ModelCard } from '../../../provider/catalog.ts'
import { listModels, type ListedModel, sortModelsNewestFirst } from '../../../provider/model-list.ts'
import {
  resolveCapabilities,
  isBaseUrlConfigured,
  mayProbeLocalServer,
  resolveModel,
  type ProviderDefinition,
  getSharedHttpClient,
  toDisplayUrl,
} from '../../../provider/index.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { readSettings } from '../../config/read-settings.ts'
import type { Config } from '../../config/schema.ts'
import { EXIT_CODE } from '../../user-error.ts'
import { MODELS_COMMAND } from './spec.ts'
import { findProviderById, listProviders } from '../../setup/choose-model.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { createCredentialSources } from '../../sign-in/credential-sources.ts'
import { formatModels } from './models-text.ts'
import { defined } from '../../../model/defined.ts'

export interface ProviderModelList {
  readonly provider: string
  readonly usable: boolean
  /** Why it cannot be used, or why its list is not the provider's own. */
  readonly why?: string
  readonly models: readonly ModelOffer[]
}

export interface ModelOffer extends ModelCard {
  readonly id: string
  /** Used when only the provider is named. */
  readonly default?: true
}

export async function runModelsCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman models', MODELS_COMMAND.options, args)
  rejectExtraArgs('dragoman models', positionals, 1)
  const [name] = positionals
  const { config } = readSettings(resolveWorkFolder({}))
  const { offers, catalog } = await listModelsByProvider(config, name)
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ date: catalog.date, source: catalog.source, providers: offers })}\n`
      : formatModels(offers, catalog, name !== undefined),
  )
  const [only] = offers
  if (name === undefined || only?.why === undefined) return EXIT_CODE.ok
  process.stderr.write(`dragoman: ${only.why}\n`)
  return only.usable ? EXIT_CODE.failure : EXIT_CODE.signIn
}

/** The models of all providers, or of one provider, which is then asked for its list. */
export async function listModelsByProvider(config: Config, name?: string) {
  const rows = listProviders(config)
  const catalog = await createLazyCatalog(config)()
  const chosen = name === undefined ? rows : [findProviderById(name, rows)]
  const offers = await Promise.all(chosen.map((row) => findProviderOffer(row, rows, catalog, name !== undefined)))
  return { catalog, offers }
}

/** How long a local server may take to list its models, at its default and at a configured URL. */
const LOCAL_SERVER_TIMEOUT_MS = 300
const CONFIGURED_SERVER_TIMEOUT_MS = 3000

async function findProviderOffer(
  row: ProviderDefinition,
  rows: readonly ProviderDefinition[],
  catalog: Catalog,
  ask: boolean,
): Promise<ProviderModelList> {
  const offer = (usable: boolean, models: readonly ListedModel[], why?: string): ProviderModelList => {
    const byId = new Map(models.map((model) => [model.id, model]))
    // A local server has few models, and lists them in its own order.
    const ids = row.port === undefined ? sortModelsNewestFirst([...byId.keys()], row.model) : [...byId.keys()]
    const cards = ids.map((id) => toModelOffer(row, byId.get(id) ?? { id }, catalog))
    return { provider: row.id, usable, ...defined({ why }), models: cards }
  }
  const known = listKnownModels(row, catalog)
  // Any model name resolves to a local server.
  const target = resolveModel(`${row.id}/${row.model ?? 'any'}`, process.env, rows, createCredentialSources())
  if ('problem' in target) return offer(false, known, target.problem)
  if (!ask && row.port === undefined) return offer(true, known)
  if (!ask && !mayProbeLocalServer(row, process.env))
    return offer(false, [], `${row.id} was not probed, because DRAGOMAN_LOCAL_SERVERS is off.`)
  const localMs = isBaseUrlConfigured(row, process.env) ? CONFIGURED_SERVER_TIMEOUT_MS : LOCAL_SERVER_TIMEOUT_MS
  const listed = await listModels(target, getSharedHttpClient(), row.port === undefined ? undefined : localMs)
  if (!('problem' in listed)) return offer(true, listed)
  return row.port === undefined
    ? offer(true, known, `${listed.problem} The list is from the built-in catalogue.`)
    : offer(false, [], `${row.id} does not answer at ${toDisplayUrl(target.baseUrl)}.`)
}

function listKnownModels({ id: provider, model }: ProviderDefinition, catalog: Catalog): ListedModel[] {
  const ids = catalog.models(provider).map(({ id }) => id)
  return (model === undefined || ids.includes(model) ? ids : [model, ...ids]).map((id) => ({ id }))
}

/** The endpoint's data take precedence over the catalogue, and those over the model family's. */
function toModelOffer(
  row: ProviderDefinition,
  { id, window: reportedWindow, output: reportedOutput }: ListedModel,
  catalog: Catalog,
): ModelOffer {
  const card = catalog.card({ provider: row.id, model: id })
  const window = reportedWindow ?? card?.window ?? resolveCapabilities(row, id).window
  const output = reportedOutput ?? card?.output
  return { id, ...card, ...defined({ window, output }), ...(id === row.model && { default: true }) }
}
