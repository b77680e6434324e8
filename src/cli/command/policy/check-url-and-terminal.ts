import { isObject, type JsonObject, stringOrEmpty } from '../../../model/json.ts'
import { isIpAddress } from '../../../policy/url/ip-address.ts'
import type { Decision } from '../../../policy/policy.ts'
import { sanitizeBytes, sanitizeText, createSanitizingStream, type TextSurface } from '../../../policy/text/sanitize.ts'
import { checkAddresses, checkRedirect } from '../../../policy/url/check-url.ts'
import { checkUrlForUsage, type UrlCheckContext, type UrlUsage } from '../../../policy/url/url-usage.ts'
import { type PolicyCheckResult, readCaseText } from './check-case.ts'

/** Checks a URL with the DNS answers and redirects of the case. Nothing is looked up or fetched. */
export function checkUrlCase(checkCase: JsonObject): PolicyCheckResult {
  const surface = (checkCase['surface'] ?? 'fetch') as UrlUsage
  const url = readCaseText(checkCase, 'url')
  const context = {
    ...(checkCase as unknown as UrlCheckContext),
    origin: (checkCase['origin'] ?? 'tool-output') as 'tool-output',
  }
  const first = checkUrlForUsage(surface, url, context)
  const { verdict, rule, why } = followRedirects(url, checkCase, first, SURFACES_WITH_LOOKUP.has(surface))
  return { verdict: verdict === 'deny' ? 'block' : verdict, rule, why, programs: [] }
}

const SURFACES_WITH_LOOKUP: ReadonlySet<UrlUsage> = new Set(['fetch', 'oauth-metadata', 'oauth-token'])
const MAX_REDIRECTS = 5

function followRedirects(url: string, checkCase: JsonObject, first: Decision, resolvesNames: boolean): Decision {
  if (first.verdict !== 'allow' || !resolvesNames) return first
  const steps = Array.isArray(checkCase['redirects']) ? (checkCase['redirects'] as readonly JsonObject[]) : []
  if (checkCase['loop'] === true && steps.length > 0) return tooManyRedirects()
  let at = url
  for (const [count, step] of [undefined, ...steps].entries()) {
    if (step) {
      const next = stringOrEmpty(step['location'])
      const to = URL.canParse(next, at) ? new URL(next, at).href : ''
      const decision =
        count > MAX_REDIRECTS ? tooManyRedirects() : checkRedirect(at, to, { typed: checkCase['origin'] === 'user' })
      if (decision.verdict !== 'allow') return decision
      at = to
    }
    const { hostname } = new URL(at)
    const name = hostname.replace(/^\[|\]$/g, '')
    // A failed connection is tried once more, after another lookup.
    const lookups = checkCase['connectFails'] === true ? [count, count + 1] : [count]
    const decisions = lookups.map((number) => checkAddresses(hostname, lookUpAddresses(name, checkCase, number)))
    const refusal = decisions.find(({ verdict }) => verdict !== 'allow')
    if (refusal) return refusal
  }
  return first
}

function tooManyRedirects(): Decision {
  return { verdict: 'deny', rule: 'url-redirects', why: `There are more than ${MAX_REDIRECTS} redirects.` }
}

/** A name without an entry is public. */
function lookUpAddresses(host: string, checkCase: JsonObject, count: number): readonly string[] {
  if (isIpAddress(host)) return [host]
  const sequence = checkCase['dnsSequence']
  if (Array.isArray(sequence)) return toStringList(sequence[Math.min(count, sequence.length - 1)])
  const entry = isObject(checkCase['dns']) ? checkCase['dns'][host] : undefined
  if (entry === undefined) return ['93.184.215.14']
  return isObject(entry) && typeof entry['cname'] === 'string'
    ? lookUpAddresses(entry['cname'], checkCase, count)
    : toStringList(entry)
}

function toStringList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

export function checkTerminalCase(checkCase: JsonObject): PolicyCheckResult {
  return { rendered: renderCase(checkCase, (checkCase['surface'] ?? 'tool-output') as TextSurface) }
}

function renderCase(checkCase: JsonObject, surface: TextSurface): string {
  const { chunks, inputBase64: bytes } = checkCase
  if (typeof bytes === 'string') return sanitizeBytes(Buffer.from(bytes, 'base64'), surface)
  if (!Array.isArray(chunks)) return sanitizeText(readCaseText(checkCase, 'input'), surface)
  if (surface !== 'tool-output' && surface !== 'model-text')
    return sanitizeText(chunks.map(stringOrEmpty).join(''), surface)
  const stream = createSanitizingStream(surface)
  return chunks.map((chunk) => stream.write(stringOrEmpty(chunk))).join('') + stream.end()
}
