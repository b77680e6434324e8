import { innerAddress, isAddress } from './address.ts'
import { oddName } from './host-name.ts'
import type { Decision, Verdict } from './policy.ts'
import { carriedData, secretIn } from './url-data.ts'

/** What is known around a URL that is judged. */
export interface UrlRules {
  /** The person wrote this URL, so that nobody is hiding data of ours in it. */
  readonly typed?: boolean
  /** Values that must never leave: keys of ours. */
  readonly secrets?: readonly string[]
  /** Hosts (`name` or `name:port`) that the person opened, although they are inner. */
  readonly open?: readonly string[]
}

/** Judges the text of a URL that is to be fetched, before any name is looked up: even a look-up can carry data out. */
export function judgeUrl(text: string, rules: UrlRules = {}): Decision {
  const url = readUrl(text)
  if ('verdict' in url) return url
  const found = [judgeHost(url, rules), judgePort(url, rules), judgeData(text, url, rules)]
  return worst(found) ?? decision('allow', 'url', `${url.hostname} is an ordinary public address.`)
}

/** Judges all that a name service answered for a host (`name` or `name:port`). One inner address among many is enough to refuse: a client may take any. */
export function judgeAddresses(host: string, addresses: readonly string[], rules: UrlRules = {}): Decision {
  if (isOpen(host, rules)) return decision('allow', 'url-open', `The person opened ${host}.`)
  if (addresses.length === 0) return decision('deny', 'url-address', `${host} has no address.`)
  for (const address of addresses) {
    const inner = innerAddress(address)
    if (inner !== undefined) return decision('deny', 'url-address', `${host} leads to ${address}: ${inner}.`)
  }
  return decision('allow', 'url-address', `${host} leads to the public net.`)
}

/** Judges where an answer sends us on to: by the same rules, and never from https down to http. */
export function judgeRedirect(from: string, to: string, rules: UrlRules = {}): Decision {
  if (/^https:/i.test(from) && !/^https:/i.test(to)) {
    return decision('deny', 'url-downgrade', 'It leads from https to something that anybody on the way can change.')
  }
  return judgeUrl(to, rules)
}

/** The URL that a text means; a text that two readers could read in two ways is refused. */
export function readUrl(text: string): URL | Decision {
  const no = (why: string) => decision('deny', 'url-form', why)
  if (text.length > MAX_LENGTH) return no(`An address of ${text.length} characters is too long.`)
  // Browsers drop these or take them for others; older readers do not.
  if (/[\0-\x20\x7f-\x9f\\]/.test(text)) return no('The address holds blanks, backslashes or control characters.')
  if (!/^https?:/i.test(text)) return no('Only http and https addresses can be fetched.')
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return no('The address is not valid.')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || /^[^/?#]*\/\/[^/?#]*(?:@|%40|%00)/i.test(text)) {
    return no('The address holds a user name or a password.')
  }
  return url
}

const MAX_LENGTH = 8_192

/** Is a host (of a parsed URL) an address or a name that is not on the public net? */
export function isInnerHost(host: string): boolean {
  return isAddress(host) ? innerAddress(host) !== undefined : oddName(host)?.verdict === 'deny'
}

function judgeHost(url: URL, rules: UrlRules): Decision | undefined {
  const host = url.hostname
  if (isOpen(url.host, rules)) return undefined
  if (isAddress(host)) {
    const inner = innerAddress(host)
    return inner === undefined ? undefined : decision('deny', 'url-address', `${host} leads to ${inner}.`)
  }
  const odd = oddName(host)
  return odd && decision(odd.verdict, 'url-host', sentence(odd.why))
}

/** Ports of other services: what they read as commands could be written into a request. */
const SERVICES = new Set([
  1080, 1433, 1521, 1723, 1883, 2049, 2375, 2376, 2379, 2380, 3128, 3260, 3306, 3389, 4369, 5060, 5222, 5432, 5555,
  5672, 5900, 5984, 5985, 5986, 6000, 6379, 6443, 6660, 6667, 7001, 7077, 8086, 8500, 9042, 9092, 9100, 9200, 9300,
  10250, 10255, 11211, 15672, 16379, 25565, 26379, 27017, 27018, 50070,
])

/** Is this a port on which something else than a web server listens? */
export function isServicePort(port: number): boolean {
  return port !== 80 && port !== 443 && (port <= 1024 || SERVICES.has(port))
}

function judgePort(url: URL, rules: UrlRules): Decision | undefined {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (port === 80 || port === 443 || isOpen(url.host, rules)) return undefined
  if (isServicePort(port)) {
    return decision('deny', 'url-port', `Port ${port} belongs to another service than the web.`)
  }
  return decision('ask', 'url-port', `${port} is an unusual port.`)
}

function judgeData(text: string, url: URL, { typed, secrets = [] }: UrlRules): Decision | undefined {
  if (typed) return undefined
  const held = secretIn(text, secrets)
  if (held === 'whole') return decision('deny', 'url-secret', 'The address would carry a secret away.')
  if (held === 'part') return decision('ask', 'url-secret', 'The address holds a part of a secret.')
  const data = carriedData(text, url)
  if (data !== undefined) {
    return decision('ask', 'url-data', `Nobody typed this address, and ${data}: it may carry something away.`)
  }
  for (const value of url.searchParams.values()) {
    const inside = /^https?:\/\//i.test(value) ? readUrl(value) : undefined
    if (inside && !('verdict' in inside) && judgeHost(inside, {})?.verdict === 'deny') {
      return decision('ask', 'url-data', `It asks ${url.hostname} to fetch an inner address.`)
    }
  }
  return undefined
}

/** Did the person open this host: this port of it, or all of it? */
function isOpen(host: string, { open = [] }: UrlRules): boolean {
  return open.includes(host) || open.includes(host.replace(/:\d+$/, ''))
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

/** The strictest of some decisions. */
export function worst(decisions: readonly (Decision | undefined)[]): Decision | undefined {
  const order: readonly Verdict[] = ['deny', 'ask', 'allow']
  return order.map((verdict) => decisions.find((one) => one?.verdict === verdict)).find((one) => one !== undefined)
}

function decision(verdict: Verdict, rule: string, why: string): Decision {
  return { verdict, rule, why }
}
