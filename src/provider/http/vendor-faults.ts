import type { Fault } from '../../model/fault.ts'
import { getBaseUrlSource, type Endpoint, describeSignIn } from '../endpoint.ts'

/**
 * An error that a vendor sent, with whose it is and what can be done about it. The vendor's own words stay in it as they
 * are. `page` is what came in their place, where the answer could not be read: a proxy's web page, or a line of text.
 */
export function explainVendorFault({ isUnexplained, ...fault }: Fault, endpoint: Endpoint, url: URL, page = ''): Fault {
  const { status } = fault
  if (status === undefined) return fault
  const ownText = isUnexplained ? '' : extractVendorMessage(fault.message)
  const vendorText = ownText || extractVendorMessage(page).slice(0, 200)
  const message =
    vendorText === ''
      ? formatStatusMessage(status, endpoint, url, getPageTitle(page))
      : formatVendorMessage(fault, vendorText, endpoint)
  return { ...fault, message, ...(isModelNotFound(fault, vendorText) && { param: 'model' }) }
}

/** There is no model of this name, says the vendor; at an address that is wrong there is no model at all, and no word of it. */
function isModelNotFound({ kind, code }: Fault, vendorText: string): boolean {
  if (kind !== 'invalid' || vendorText === '') return false
  if (code === 'model_not_found' || MODEL_NOT_FOUND_PHRASE.test(vendorText)) return true
  // Some say in the code that something is not there, and in words only what.
  return NOT_FOUND_CODE.test(code ?? '') && /\bmodels?\b/i.test(vendorText)
}

const NOT_FOUND_CODE = /^not_found(?:_error)?$/i

const MODEL_NOT_FOUND_PHRASE =
  /\b(?:no such|there is no|no|unknown|invalid|unrecogni[sz]ed) model\b|\bmodels?\b.{0,120}?\b(?:(?:not|n['’]t) (?:be )?(?:found|exist|a valid)|unknown|not_found)/is

/** The title of a web page; of one without a title, how it begins. */
export function getPageTitle(page: string): string {
  const title = /<title[^>]*>([^<]{1,100})/i.exec(page)?.[1] ?? page.slice(0, 60)
  return title.replace(/\s+/g, ' ').trim()
}

/** The text of an error; a web page is none. */
function extractVendorMessage(text: string): string {
  const vendorText = text.trim()
  return vendorText.startsWith('<') ? '' : vendorText.slice(0, MAX_MESSAGE_CHARS)
}

/** Longer words quote the request. */
const MAX_MESSAGE_CHARS = 2000

function formatVendorMessage({ kind, status }: Fault, vendorText: string, endpoint: Endpoint): string {
  const { provider } = endpoint
  const sentence = /[.!?]$/.test(vendorText) ? vendorText : `${vendorText}.`
  if (kind === 'auth') return `${provider.id} does not let us in: ${sentence} To get in, ${describeSignIn(provider)}.`
  if (kind === 'rate') return `${provider.id} asks us to slow down: ${sentence}`
  if (kind === 'quota') return `The quota of ${provider.id} is used up: ${sentence} Another model may still answer.`
  if (status !== 404) return vendorText
  return `${sentence} Check the model with dragoman models ${provider.id}, or the address in ${getBaseUrlSource(endpoint)}.`
}

function formatStatusMessage(status: number, endpoint: Endpoint, url: URL, title: string): string {
  const { provider } = endpoint
  const who = `${provider.id} (${url.host})`
  const page = title === '' ? '' : `, with a web page (“${title}”)`
  if (status === 401 || status === 403)
    return `${who} does not let us in: it answered ${status}${page}. To get in, ${describeSignIn(provider)}.`
  if (status === 404)
    return `${who} has nothing at ${url.pathname}: it answered 404${page}. Check the address in ${getBaseUrlSource(endpoint)}.`
  return `${who} answered ${status}${page}, and does not say why.`
}
