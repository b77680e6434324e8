import type { Catalog } from '../../../provider/catalog.ts'
import { formatTable, formatNumber } from '../../output/format.ts'
import { getInvocationName } from '../../args/invocation-name.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { ProviderModelList, ModelOffer } from './models.ts'

/** The offers as text. Without a named provider, long lists are shortened. */
export function formatModels(offers: readonly ProviderModelList[], catalog: Catalog, showAll: boolean): string {
  const usable = offers.filter((offer) => offer.usable || showAll)
  const rows = usable.flatMap((offer) => {
    const { provider, models } = offer
    const shown = showAll || models.length <= LONG_LIST ? models : models.slice(0, MODELS_SHOWN_PER_PROVIDER)
    const modelRows = shown.map((model) => formatModelRow(provider, model))
    if (shown.length === models.length) return modelRows
    const more = `${models.length - shown.length} more: dragoman models ${provider}`
    return [...modelRows, [`${provider}/…`, '', '', '', '', more]]
  })
  const head = ['model', 'context', 'max output', '$ in', '$ out', 'capabilities']
  const list = rows.length > 0 ? formatTable([head, ...rows], [1, 2, 3, 4]) : noModelsText()
  const others = showAll ? [] : offers.filter((offer) => !offer.usable)
  const reasons = others.map(({ why = '' }) => `  ${escapeForTerminal(why)}\n`).join('')
  return [
    list,
    others.length > 0 ? `Not available:\n${reasons}` : '',
    `Prices are in US dollars per million tokens, as of ${catalog.date}; – means unknown.\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

const noModelsText = (): string => `No model is available: set a key, or start a local model server.
To try Dragoman with a scripted model:
  ${getInvocationName()} tour
  ${getInvocationName()} -m rehearsal/hello
`

const MODELS_SHOWN_PER_PROVIDER = 4

const LONG_LIST = 12

function formatModelRow(provider: string, { id, window, output, price, abilities = [] }: ModelOffer): string[] {
  return [
    escapeForTerminal(`${provider}/${id}`),
    window === undefined ? '–' : formatNumber(window),
    output === undefined ? '–' : formatNumber(output),
    price === undefined ? '–' : String(price.input),
    price === undefined ? '–' : String(price.output),
    abilities.join(', '),
  ]
}
