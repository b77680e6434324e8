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
import { matchSimilarNames } from '../../../schema/similar-names.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { readSettings } from '../../config/read-settings.ts'
import type { Config } from '../../config/schema.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { MODELS_COMMAND } from './spec.ts'
import { listProviders } from '../../setup/choose-model.ts'
import { parseCommandLine } from '../../args/parse.ts'
import { createCredentialSources } from '../../sign-in/credential-sources.ts'
import { formatModels } from './models-text.ts'
import { defined } from '../../../model/defined.ts'

/** A provider: whether it can be used, and with which models. */
export interface ProviderOffer {
  readonly provider: string
  readonly usable: boolean
  /** Why it cannot be used, or why its list is not the provider's own. */
  readonly why?: string
  readonly models: readonly ModelOffer[]
}

/** A model, and what is known of it. */
export interface ModelOffer extends ModelCard {
  readonly id: string
  /** Used when only the provider is named. */
  readonly default?: true
}

/** `dragoman models`: what can be used here and now. */
export async function runModelsCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman models', MODELS_COMMAND.options, args)
  const [name, extraArgument] = positionals
  if (extraArgument !== undefined)
    throw new UserError(`dragoman models takes one provider, not also “${extraArgument}”`)
  const { config } = readSettings(resolveWorkFolder({}))
  const { offers, catalog } = await listProviderOffers(config, name)
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

/** What all providers offer here, or one of them, which is then asked for its list. */
export async function listProviderOffers(
  config: Config,
  name?: string,
): Promise<{ offers: ProviderOffer[]; catalog: Catalog }> {
  const rows = listProviders(config)
  const catalog = await createLazyCatalog(config)()
  const chosen = name === undefined ? rows : [findProvider(name, rows)]
  return {
    catalog,
    offers: await Promise.all(chosen.map((row) => findProviderOffer(row, rows, catalog, name !== undefined))),
  }
}

/** How long a server on this machine may take to list its models, at its usual and at a configured address. */
const LOCAL_SERVER_TIMEOUT_MS = 300
const CONFIGURED_SERVER_TIMEOUT_MS = 3000

async function findProviderOffer(
  row: ProviderDefinition,
  rows: readonly ProviderDefinition[],
  catalog: Catalog,
  ask: boolean,
): Promise<ProviderOffer> {
  const catalogIds = catalog.models(row.id).map(({ id }) => id)
  const base = { provider: row.id }
  const cards = (models: readonly ListedModel[]) => {
    const byId = new Map(models.map((model) => [model.id, model]))
    // A server of one's own has few, and knows best which of them is used.
    const ids = row.port === undefined ? sortModelsNewestFirst([...byId.keys()], row.model) : [...byId.keys()]
    return ids.map((id) => toModelOffer(row, byId.get(id) ?? { id }, catalog))
  }
  // A server of one's own has whatever models it has; any name leads to it.
  const target = resolveModel(`${row.id}/${row.model ?? 'any'}`, process.env, rows, createCredentialSources())
  if ('problem' in target)
    return { ...base, usable: false, why: target.problem, models: cards(toOfferedModels(row, catalogIds)) }
  if (!ask && row.port === undefined) return { ...base, usable: true, models: cards(toOfferedModels(row, catalogIds)) }
  if (!ask && !mayProbeLocalServer(row, process.env))
    return { ...base, usable: false, why: 'DRAGOMAN_LOCAL_SERVERS is off: its usual port is not asked.', models: [] }
  const localMs = isBaseUrlConfigured(row, process.env) ? CONFIGURED_SERVER_TIMEOUT_MS : LOCAL_SERVER_TIMEOUT_MS
  const offered = await listModels(target, getSharedHttpClient(), row.port === undefined ? undefined : localMs)
  if (!('problem' in offered)) return { ...base, usable: true, models: cards(offered) }
  return row.port === undefined
    ? {
        ...base,
        usable: true,
        why: `${offered.problem} This is what the catalogue knows.`,
        models: cards(toOfferedModels(row, catalogIds)),
      }
    : { ...base, usable: false, why: `No server answers at ${toDisplayUrl(target.baseUrl)}.`, models: [] }
}

function toOfferedModels({ model }: ProviderDefinition, catalogIds: readonly string[]): ListedModel[] {
  const all = model === undefined || catalogIds.includes(model) ? catalogIds : [model, ...catalogIds]
  return all.map((id) => ({ id }))
}

/** What the endpoint says of a model comes before what we know, and that before what holds for its family. */
function toModelOffer(
  row: ProviderDefinition,
  { id, window: reportedWindow, output: reportedOutput }: ListedModel,
  catalog: Catalog,
): ModelOffer {
  const card = catalog.card({ provider: row.id, model: id })
  const window = reportedWindow ?? card?.window ?? resolveCapabilities(row, id).window
  const output = reportedOutput ?? card?.output
  return {
    id,
    ...card,
    ...defined({ window, output }),
    ...(id === row.model && { default: true }),
  }
}

function findProvider(name: string, rows: readonly ProviderDefinition[]): ProviderDefinition {
  const ids = rows.map(({ id }) => id)
  const found = rows.find(({ id }) => id === name.toLowerCase())
  if (found) return found
  const suggestion = matchSimilarNames([name], ids).get(name)
  throw new UserError(
    suggestion === undefined
      ? `there is no provider “${name}”; there are ${ids.join(', ')}`
      : `there is no provider “${name}”; did you mean ${suggestion}?`,
  )
}
