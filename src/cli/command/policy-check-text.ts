import { isObject, type JsonObject } from '../../model/json.ts'
import { isAddress } from '../../policy/address.ts'
import type { Decision } from '../../policy/policy.ts'
import { renderBytes, renderSafe, startSafe, type TerminalSurface } from '../../policy/terminal.ts'
import { judgeAddresses, judgeRedirect } from '../../policy/url.ts'
import { judgeUrlOn, type UrlContext, type UrlSurface } from '../../policy/url-surface.ts'
import { type Answer, textIn, wordIn } from './policy-line.ts'

/** Judges an address, with the answers of a name service and the redirects of the line. Nothing is looked up or fetched. */
export function checkUrl(line: JsonObject): Answer {
  const surface = (line['surface'] ?? 'fetch') as UrlSurface
  const url = textIn(line, 'url')
  const context = { ...(line as unknown as UrlContext), origin: (line['origin'] ?? 'tool-output') as 'tool-output' }
  const { verdict, rule, why } = walk(url, line, judgeUrlOn(surface, url, context), LOOKED_UP.has(surface))
  return { verdict: verdict === 'deny' ? 'block' : verdict, rule, why, programs: [] }
}

const LOOKED_UP: ReadonlySet<UrlSurface> = new Set(['fetch', 'oauth-metadata', 'oauth-token'])
const MAX_REDIRECTS = 5

function walk(url: string, line: JsonObject, first: Decision, looksUp: boolean): Decision {
  if (first.verdict !== 'allow' || !looksUp) return first
  const steps = Array.isArray(line['redirects']) ? (line['redirects'] as readonly JsonObject[]) : []
  if (line['loop'] === true && steps.length > 0) return tooMany()
  let at = url
  for (const [count, step] of [undefined, ...steps].entries()) {
    if (step) {
      const next = wordIn(step['location'])
      const to = URL.canParse(next, at) ? new URL(next, at).href : ''
      const judged = count > MAX_REDIRECTS ? tooMany() : judgeRedirect(at, to, { typed: line['origin'] === 'user' })
      if (judged.verdict !== 'allow') return judged
      at = to
    }
    const { hostname } = new URL(at)
    const name = hostname.replace(/^\[|\]$/g, '')
    // A connection that fails is tried once more, with what the name means by then.
    const answers = [
      lookUp(name, line, count),
      ...(line['connectFails'] === true ? [lookUp(name, line, count + 1)] : []),
    ]
    const judged = answers
      .map((addresses) => judgeAddresses(hostname, addresses))
      .find(({ verdict }) => verdict !== 'allow')
    if (judged) return judged
  }
  return first
}

function tooMany(): Decision {
  return { verdict: 'deny', rule: 'url-redirects', why: `It is sent on more than ${MAX_REDIRECTS} times.` }
}

/** A name without an entry counts as public. */
function lookUp(host: string, line: JsonObject, count: number): readonly string[] {
  if (isAddress(host)) return [host]
  const sequence = line['dnsSequence']
  if (Array.isArray(sequence)) return listOf(sequence[Math.min(count, sequence.length - 1)])
  const known = isObject(line['dns']) ? line['dns'][host] : undefined
  if (known === undefined) return ['93.184.215.14']
  return isObject(known) && typeof known['cname'] === 'string' ? lookUp(known['cname'], line, count) : listOf(known)
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/** Shows a text as it would be shown where it goes. */
export function checkTerminal(line: JsonObject): Answer {
  const surface = (line['surface'] ?? 'tool-output') as TerminalSurface
  return { rendered: rendered(line, surface) }
}

function rendered(line: JsonObject, surface: TerminalSurface): string {
  const { chunks, inputBase64: bytes } = line
  if (typeof bytes === 'string') return renderBytes(Buffer.from(bytes, 'base64'), surface)
  if (!Array.isArray(chunks)) return renderSafe(textIn(line, 'input'), surface)
  if (surface !== 'tool-output' && surface !== 'model-text') return renderSafe(chunks.map(wordIn).join(''), surface)
  const stream = startSafe(surface)
  return chunks.map((chunk) => stream.write(wordIn(chunk))).join('') + stream.end()
}
