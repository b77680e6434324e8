import type { JsonObject } from '../../../model/json.ts'
import type { WireId } from '../../../model/turn.ts'
import { WIRE_ENDPOINTS } from '../../../wire/endpoint.ts'
import type { EndpointAdaptation, RequestRefusal } from './adaptation.ts'

/** An optional parameter that was sent and is refused by name (T78, T150, T154, T155). */
export function findParameterAdaptation(
  { message, param, wire }: RequestRefusal,
  sent: JsonObject,
): EndpointAdaptation | undefined {
  const name = findRefusedParameter(message, param, wire, sent)
  return name === undefined
    ? undefined
    : { capabilities: { refuses: [name] }, description: `does not accept the parameter ${name}; it is omitted` }
}

function findRefusedParameter(message: string, param: string, wire: WireId, sent: JsonObject): string | undefined {
  const { listOptionalFields, toFieldName } = WIRE_ENDPOINTS[wire]
  const names = listOptionalFields(sent)
  const namedByParam = names.filter((name) => param !== '' && isSameName(toFieldName(param), name))
  if (namedByParam[0] !== undefined) return namedByParam[0]
  if (!REFUSAL_PHRASE.test(message)) return undefined
  // The longest name first: `reasoning.effort` is more specific than `reasoning`.
  return [...names].sort((a, b) => b.length - a.length).find((name) => mentionsName(message, name))
}

const REFUSAL_PHRASE =
  /unsupported|not supported|n't support|not support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|extra (?:inputs|fields|parameters)|not (?:accept|valid|enabled)|invalid|cannot be (?:used|set)|deprecated|no longer/i

/** Servers write the same name in snake case and in camel case. */
function isSameName(one: string, other: string): boolean {
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase()
  return plain(one) === plain(other)
}

function mentionsName(message: string, name: string): boolean {
  const snake = name.replace(/[A-Z]/g, (request) => `_${request.toLowerCase()}`)
  const camel = name.replace(/_(\w)/g, (_all, request: string) => request.toUpperCase())
  const forms = [...new Set([name, snake, camel])].map((form) => form.replace('.', '\\.'))
  return new RegExp(`(?<!\\w)(?:${forms.join('|')})(?!\\w)`).test(message)
}
