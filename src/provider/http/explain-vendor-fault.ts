import type { Fault } from '../../model/fault.ts'
import { endWithPeriod } from '../../model/text.ts'
import { getBaseUrlSource, type Endpoint, describeSignIn } from '../endpoint.ts'

/**
 * Adds to an error of a vendor which provider it is from and what the user can do; the vendor's own words stay as they
 * are. `page` is the text that came in their place, if the body was not the API's: a web page, or a line of text.
 */
export function explainVendorFault(fault: Fault, endpoint: Endpoint, url: URL, page = ''): Fault {
  const { isUnexplained, ...known } = fault
  const { status } = known
  if (status === undefined) return known
  const vendorText = (isUnexplained ? '' : toVendorText(fault.message)) || toVendorText(page).slice(0, 200)
  const message =
    vendorText === ''
      ? formatStatusMessage(status, endpoint, url, getPageTitle(page))
      : formatVendorMessage(known, vendorText, endpoint)
  return { ...known, message, ...(isModelNotFound(known, vendorText) && { param: 'model' }) }
}

/** Does the vendor say that it has no such model? A wrong address also answers 404, but says nothing of a model. */
function isModelNotFound({ kind, code }: Fault, vendorText: string): boolean {
  if (kind !== 'invalid' || vendorText === '') return false
  if (code === 'model_not_found' || MODEL_NOT_FOUND_PHRASE.test(vendorText)) return true
  // Some vendors say in the code that something was not found, and in the message what it was.
  return NOT_FOUND_CODE.test(code ?? '') && /\bmodels?\b/i.test(vendorText)
}

const NOT_FOUND_CODE = /^not_found(?:_error)?$/i

const MODEL_NOT_FOUND_PHRASE =
  /\b(?:no such|there is no|no|unknown|invalid|unrecogni[sz]ed) model\b|\bmodels?\b.{0,120}?\b(?:(?:not|n['’]t) (?:be )?(?:found|exist|a valid)|unknown|not_found)/is

export function getPageTitle(page: string): string {
  const title = /<title[^>]*>([^<]{1,100})/i.exec(page)?.[1] ?? page.slice(0, 60)
  return title.replace(/\s+/g, ' ').trim()
}

function toVendorText(text: string): string {
  const trimmed = text.trim()
  return trimmed.startsWith('<') ? '' : trimmed.slice(0, MAX_MESSAGE_CHARS)
}

/** Longer messages quote the request. */
const MAX_MESSAGE_CHARS = 2000

function formatVendorMessage({ kind, status }: Fault, vendorText: string, endpoint: Endpoint): string {
  const { provider } = endpoint
  const sentence = endWithPeriod(vendorText)
  if (kind === 'auth')
    return `${provider.id} rejected the sign-in: ${sentence} To sign in, ${describeSignIn(provider)}.`
  if (kind === 'rate') return `The rate limit of ${provider.id} is reached: ${sentence}`
  if (kind === 'quota') return `The quota of ${provider.id} is used up: ${sentence} Another model may still work.`
  if (status !== 404) return vendorText
  return `${sentence} Check the model with dragoman models ${provider.id}, or the address in ${getBaseUrlSource(endpoint)}.`
}

function formatStatusMessage(status: number, endpoint: Endpoint, url: URL, title: string): string {
  const { provider } = endpoint
  const who = `${provider.id} (${url.host})`
  const page = title === '' ? '' : `, with a web page (“${title}”)`
  if (status === 401 || status === 403)
    return `${who} rejected the sign-in: it answered ${status}${page}. To sign in, ${describeSignIn(provider)}.`
  if (status === 404)
    return `${who} has nothing at ${url.pathname}: it answered 404${page}. Check the address in ${getBaseUrlSource(endpoint)}.`
  return `${who} answered ${status}${page}, without an error message.`
}
