import type { Fault } from '../model/fault.ts'
import { addressSource, type Target, waysIn } from './target.ts'

/**
 * An error that a vendor sent, with whose it is and what can be done about it. The vendor's own words stay in it as they
 * are. `page` is what came in their place, where the answer could not be read: a proxy's web page, or a line of text.
 */
export function refusedFault(fault: Fault, target: Target, url: URL, page = ''): Fault {
  const { status } = fault
  if (status === undefined) return fault
  const words = wordsOf(fault.message) || wordsOf(page).slice(0, 200)
  const told = words === '' ? silent(status, target, url, titleOf(page)) : quoted(fault, words, target)
  return { ...fault, message: told, ...(isNoModel(fault, words) && { param: 'model' }) }
}

/** There is no model of this name, says the vendor; at an address that is wrong there is no model at all, and no word of it. */
function isNoModel({ kind, code }: Fault, words: string): boolean {
  if (kind !== 'invalid' || words === '') return false
  if (code === 'model_not_found' || NO_MODEL.test(words)) return true
  // Some say in the code that something is not there, and in words only what.
  return NOT_FOUND.test(code ?? '') && /\bmodels?\b/i.test(words)
}

const NOT_FOUND = /^not_found(?:_error)?$/i

const NO_MODEL =
  /\b(?:no such|there is no|no|unknown|invalid|unrecogni[sz]ed) model\b|\bmodels?\b.{0,120}?\b(?:(?:not|n['’]t) (?:be )?(?:found|exist|a valid)|unknown|not_found)/is

/** The title of a web page; of one without a title, how it begins. */
export function titleOf(page: string): string {
  const title = /<title[^>]*>([^<]{1,100})/i.exec(page)?.[1] ?? page.slice(0, 60)
  return title.replace(/\s+/g, ' ').trim()
}

/** What an error says in words; a bare status and a web page say nothing. */
function wordsOf(text: string): string {
  const words = text.replace(/^HTTP \d{3}(?:: |$)/, '').trim()
  return /^(?:The server answered|<)/.test(words) ? '' : words.slice(0, LONGEST)
}

/** Longer words quote the request. */
const LONGEST = 2000

function quoted({ kind, status }: Fault, words: string, target: Target): string {
  const { row } = target
  const said = /[.!?]$/.test(words) ? words : `${words}.`
  if (kind === 'auth') return `${row.id} does not let us in: ${said} To get in, ${waysIn(row)}.`
  if (kind === 'rate') return `${row.id} asks us to slow down: ${said}`
  if (kind === 'quota') return `The quota of ${row.id} is used up: ${said} Another model may still answer.`
  if (status !== 404) return words
  return `${said} Check the model with dragoman models ${row.id}, or the address in ${addressSource(target)}.`
}

function silent(status: number, target: Target, url: URL, title: string): string {
  const { row } = target
  const who = `${row.id} (${url.host})`
  const page = title === '' ? '' : `, with a web page (“${title}”)`
  if (status === 401 || status === 403)
    return `${who} does not let us in: it answered ${status}${page}. To get in, ${waysIn(row)}.`
  if (status === 404)
    return `${who} has nothing at ${url.pathname}: it answered 404${page}. Check the address in ${addressSource(target)}.`
  return `${who} answered ${status}${page}, and does not say why.`
}
