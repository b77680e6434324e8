import type { Catalog } from '../../../provider/catalog.ts'
import { formatTable, formatNumber } from '../../output/format.ts'
import { findCommandName } from '../../args/command-name.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import type { ProviderOffer, ModelOffer } from './models.ts'

/** The offers for a person. Without a named provider, only the models that they would most likely want. */
export function formatModels(offers: readonly ProviderOffer[], catalog: Catalog, showAll: boolean): string {
  const usable = offers.filter((offer) => offer.usable || showAll)
  const rows = usable.flatMap((offer) => {
    const shown = showAll || !isLongList(offer) ? offer.models : offer.models.slice(0, MODELS_SHOWN_PER_PROVIDER)
    const hiddenCount = offer.models.length - shown.length
    const more =
      hiddenCount > 0
        ? [[`${offer.provider}/…`, '', '', '', '', `${hiddenCount} more: dragoman models ${offer.provider}`]]
        : []
    return [...shown.map((model) => formatModelRow(offer.provider, model)), ...more]
  })
  const head = ['model', 'tokens in', 'out', '$ in', '$ out', 'can']
  const list = rows.length > 0 ? formatTable([head, ...rows], [1, 2, 3, 4]) : noModelsText()
  const others = showAll ? [] : offers.filter((offer) => !offer.usable)
  const reasons = formatTable(
    others.map(({ provider, why = '' }) => [`  ${provider}`, escapeForTerminal(why.replace(`${provider} `, ''))]),
  )
  return [
    list,
    others.length > 0 ? `Cannot be used here:\n${reasons}` : '',
    `Prices are in US dollars for a million tokens, as of ${catalog.date}; – means that it is not known.\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

const noModelsText = (): string => `No model can be used here yet: set a key, or start a server on this machine.
To look around without one, with scripted answers:
  ${findCommandName()} tour
  ${findCommandName()} -m rehearsal/hello
`

/** Of a long list, so many that people use are shown. */
const MODELS_SHOWN_PER_PROVIDER = 4

/** A list that the catalogue gives may have hundreds of models. */
function isLongList({ models }: ProviderOffer): boolean {
  return models.length > 12
}

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
