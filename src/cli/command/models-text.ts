import type { Catalog } from '../../provider/catalog.ts'
import { columns, grouped } from '../output/columns.ts'
import { ownName } from '../own/name.ts'
import { visible } from '../output/visible.ts'
import type { Offer, OfferedCard } from './models.ts'

/** The offers for a person. Without a named provider, only the models that they would most likely want. */
export function modelsText(offers: readonly Offer[], catalog: Catalog, whole: boolean): string {
  const usable = offers.filter((offer) => offer.usable || whole)
  const rows = usable.flatMap((offer) => {
    const shown = whole || !isLong(offer) ? offer.models : offer.models.slice(0, FIRST)
    const left = offer.models.length - shown.length
    const more =
      left > 0 ? [[`${offer.provider}/…`, '', '', '', '', `${left} more: dragoman models ${offer.provider}`]] : []
    return [...shown.map((model) => line(offer.provider, model)), ...more]
  })
  const head = ['model', 'tokens in', 'out', '$ in', '$ out', 'can']
  const list = rows.length > 0 ? columns([head, ...rows], [1, 2, 3, 4]) : none()
  const others = whole ? [] : offers.filter((offer) => !offer.usable)
  const reasons = columns(
    others.map(({ provider, why = '' }) => [`  ${provider}`, visible(why.replace(`${provider} `, ''))]),
  )
  return [
    list,
    others.length > 0 ? `Cannot be used here:\n${reasons}` : '',
    `Prices are in US dollars for a million tokens, as of ${catalog.date}; – means that it is not known.\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

const none = (): string => `No model can be used here yet: set a key, or start a server on this machine.
To look around without one, with scripted answers:
  ${ownName()} tour
  ${ownName()} -m rehearsal/hello
`

/** Of a long list, so many that people use are shown. */
const FIRST = 4

/** A list that the catalogue gives may have hundreds of models. */
function isLong({ models }: Offer): boolean {
  return models.length > 12
}

function line(provider: string, { id, window, output, price, abilities = [] }: OfferedCard): string[] {
  return [
    visible(`${provider}/${id}`),
    window === undefined ? '–' : grouped(window),
    output === undefined ? '–' : grouped(output),
    price === undefined ? '–' : String(price.input),
    price === undefined ? '–' : String(price.output),
    abilities.join(', '),
  ]
}
