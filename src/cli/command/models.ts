import type { Catalog, ModelCard } from '../../provider/catalog.ts'
import { listModels, type OfferedModel } from '../../provider/list-models.ts'
import { newestFirst } from '../../provider/newest.ts'
import { profileFor } from '../../provider/profile.ts'
import { isAddressConfigured, mayProbe, resolveModel } from '../../provider/resolve.ts'
import type { Row } from '../../provider/row.ts'
import { sharedPost } from '../../provider/send.ts'
import { shownAddress } from '../../provider/target.ts'
import { nearMisses } from '../../schema/near.ts'
import { workFolder } from '../setup/assemble.ts'
import { catalogWith } from '../setup/catalog.ts'
import { readSettings } from '../config/read.ts'
import type { Config } from '../config/schema.ts'
import { Complaint, EXIT } from '../exit.ts'
import { MODELS } from '../manual/models.ts'
import { rowsWith } from '../setup/model.ts'
import { parseLine } from '../line/parse.ts'
import { signIns } from '../sign-in/sign-ins.ts'
import { modelsText } from './models-text.ts'

/** A provider: whether it can be used, and with which models. */
export interface Offer {
  readonly provider: string
  readonly usable: boolean
  /** Why it cannot be used, or why its list is not the provider's own. */
  readonly why?: string
  readonly models: readonly OfferedCard[]
}

/** A model, and what is known of it. */
export interface OfferedCard extends ModelCard {
  readonly id: string
  /** Used when only the provider is named. */
  readonly default?: true
}

/** `dragoman models`: what can be used here and now. */
export async function modelsCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseLine('dragoman models', MODELS.options, args)
  const [name, stranger] = positionals
  if (stranger !== undefined) throw new Complaint(`dragoman models takes one provider, not also “${stranger}”`)
  const { config } = readSettings(workFolder({}))
  const { offers, catalog } = await offersHere(config, name)
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ date: catalog.date, source: catalog.source, providers: offers })}\n`
      : modelsText(offers, catalog, name !== undefined),
  )
  const [only] = offers
  if (name === undefined || only?.why === undefined) return EXIT.ok
  process.stderr.write(`dragoman: ${only.why}\n`)
  return only.usable ? EXIT.failure : EXIT.signIn
}

/** What all providers offer here, or one of them, which is then asked for its list. */
export async function offersHere(config: Config, name?: string): Promise<{ offers: Offer[]; catalog: Catalog }> {
  const rows = rowsWith(config)
  const catalog = await catalogWith(config)()
  const chosen = name === undefined ? rows : [rowNamed(name, rows)]
  return { catalog, offers: await Promise.all(chosen.map((row) => offerOf(row, rows, catalog, name !== undefined))) }
}

/** How long a server on this machine may take to list its models, at its usual and at a configured address. */
const LOCAL_MS = 300
const CONFIGURED_MS = 3000

async function offerOf(row: Row, rows: readonly Row[], catalog: Catalog, ask: boolean): Promise<Offer> {
  const known = catalog.models(row.id).map(({ id }) => id)
  const base = { provider: row.id }
  const cards = (models: readonly OfferedModel[]) => {
    const byId = new Map(models.map((model) => [model.id, model]))
    // A server of one's own has few, and knows best which of them is used.
    const ids = row.port === undefined ? newestFirst([...byId.keys()], row.model) : [...byId.keys()]
    return ids.map((id) => cardOf(row, byId.get(id) ?? { id }, catalog))
  }
  // A server of one's own has whatever models it has; any name leads to it.
  const target = resolveModel(`${row.id}/${row.model ?? 'any'}`, process.env, rows, signIns())
  if ('problem' in target) return { ...base, usable: false, why: target.problem, models: cards(listed(row, known)) }
  if (!ask && row.port === undefined) return { ...base, usable: true, models: cards(listed(row, known)) }
  if (!ask && !mayProbe(row, process.env))
    return { ...base, usable: false, why: 'DRAGOMAN_LOCAL_SERVERS is off: its usual port is not asked.', models: [] }
  const localMs = isAddressConfigured(row, process.env) ? CONFIGURED_MS : LOCAL_MS
  const offered = await listModels(target, sharedPost(), row.port === undefined ? undefined : localMs)
  if (!('problem' in offered)) return { ...base, usable: true, models: cards(offered) }
  return row.port === undefined
    ? {
        ...base,
        usable: true,
        why: `${offered.problem} This is what the catalogue knows.`,
        models: cards(listed(row, known)),
      }
    : { ...base, usable: false, why: `No server answers at ${shownAddress(target.baseUrl)}.`, models: [] }
}

function listed({ model }: Row, known: readonly string[]): OfferedModel[] {
  const all = model === undefined || known.includes(model) ? known : [model, ...known]
  return all.map((id) => ({ id }))
}

/** What the endpoint says of a model comes before what we know, and that before what holds for its family. */
function cardOf(row: Row, { id, window: told, output: most }: OfferedModel, catalog: Catalog): OfferedCard {
  const card = catalog.card({ provider: row.id, model: id })
  const window = told ?? card?.window ?? profileFor(row, id).window
  const output = most ?? card?.output
  return {
    id,
    ...card,
    ...(window !== undefined && { window }),
    ...(output !== undefined && { output }),
    ...(id === row.model && { default: true }),
  }
}

function rowNamed(name: string, rows: readonly Row[]): Row {
  const ids = rows.map(({ id }) => id)
  const found = rows.find(({ id }) => id === name.toLowerCase())
  if (found) return found
  const near = nearMisses([name], ids).get(name)
  throw new Complaint(
    near === undefined
      ? `there is no provider “${name}”; there are ${ids.join(', ')}`
      : `there is no provider “${name}”; did you mean ${near}?`,
  )
}
