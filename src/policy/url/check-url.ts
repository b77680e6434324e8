import { describeNonPublicAddress, isIpAddress } from './ip-address.ts'
import { findHostNameProblem } from './host-name.ts'
import { type Decision, findStrictest } from '../policy.ts'
import { findDataInUrl, findSecretInText } from './find-data-in-url.ts'

export interface UrlCheckOptions {
  /** The user wrote this URL, so it does not carry our data away. */
  readonly typed?: boolean
  /** Values that must never be sent, such as API keys. */
  readonly secrets?: readonly string[]
  /** Private hosts (`name` or `name:port`) that the user allowed. */
  readonly open?: readonly string[]
}

/** Checks a URL before its name is resolved: even a DNS query can carry data away. */
export function checkUrl(text: string, rules: UrlCheckOptions = {}): Decision {
  const url = parseUrl(text)
  if ('verdict' in url) return url
  const found = [checkHost(url, rules), checkPort(url, rules), checkCarriedData(text, url, rules)]
  return findStrictest(found) ?? allow('url', `${url.hostname} is an ordinary public address.`)
}

/**
 * Checks the addresses of a host (`name` or `name:port`). One private address is enough to deny, since a client may
 * use any.
 */
export function checkAddresses(host: string, addresses: readonly string[], rules: UrlCheckOptions = {}): Decision {
  if (isOpenedHost(host, rules)) return allow('url-open', `The user opened ${host}.`)
  if (addresses.length === 0) return deny('url-address', `${host} has no address.`)
  for (const address of addresses) {
    const inner = describeNonPublicAddress(address)
    if (inner !== undefined) return deny('url-address', `${host} leads to ${address}: ${inner}.`)
  }
  return allow('url-address', `${host} leads to the public net.`)
}

/** Also denies a redirect from https to http. */
export function checkRedirect(from: string, to: string, rules: UrlCheckOptions = {}): Decision {
  if (/^https:/i.test(from) && !/^https:/i.test(to))
    return deny('url-downgrade', 'It leads from https to something that anybody on the way can change.')
  return checkUrl(to, rules)
}

/** Denies text that parsers may interpret differently. */
export function parseUrl(text: string): URL | Decision {
  const reject = (why: string) => deny('url-form', why)
  if (text.length > MAX_URL_CHARS) return reject(`An address of ${text.length} characters is too long.`)
  // Browsers remove or replace these; other parsers do not.
  if (/[\0-\x20\x7f-\x9f\\]/.test(text)) return reject('The address holds blanks, backslashes or control characters.')
  if (!/^https?:/i.test(text)) return reject('Only http and https addresses can be fetched.')
  if (!/^https?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return reject('The address is not valid.')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '' || /^[^/?#]*\/\/[^/?#]*(?:@|%40|%00)/i.test(text)) {
    return reject('The address holds a user name or a password.')
  }
  return url
}

const MAX_URL_CHARS = 8_192

export function isPrivateHost(host: string): boolean {
  return isIpAddress(host)
    ? describeNonPublicAddress(host) !== undefined
    : findHostNameProblem(host)?.verdict === 'deny'
}

function checkHost(url: URL, rules: UrlCheckOptions): Decision | undefined {
  const host = url.hostname
  if (isOpenedHost(url.host, rules)) return undefined
  if (isIpAddress(host)) {
    const inner = describeNonPublicAddress(host)
    return inner === undefined ? undefined : deny('url-address', `${host} leads to ${inner}.`)
  }
  const nameProblem = findHostNameProblem(host)
  return nameProblem && { verdict: nameProblem.verdict, rule: 'url-host', why: toSentence(nameProblem.why) }
}

/** Ports of services that could interpret parts of a request as commands. */
const SERVICE_PORTS = new Set([
  1080, 1433, 1521, 1723, 1883, 2049, 2375, 2376, 2379, 2380, 3128, 3260, 3306, 3389, 4369, 5060, 5222, 5432, 5555,
  5672, 5900, 5984, 5985, 5986, 6000, 6379, 6443, 6660, 6667, 7001, 7077, 8086, 8500, 9042, 9092, 9100, 9200, 9300,
  10250, 10255, 11211, 15672, 16379, 25565, 26379, 27017, 27018, 50070,
])

export function isNonWebPort(port: number): boolean {
  return port !== 80 && port !== 443 && (port <= 1024 || SERVICE_PORTS.has(port))
}

function checkPort(url: URL, rules: UrlCheckOptions): Decision | undefined {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (port === 80 || port === 443 || isOpenedHost(url.host, rules)) return undefined
  if (isNonWebPort(port)) {
    return deny('url-port', `Port ${port} belongs to another service than the web.`)
  }
  return ask('url-port', `${port} is an unusual port.`)
}

function checkCarriedData(text: string, url: URL, { typed, secrets = [] }: UrlCheckOptions): Decision | undefined {
  if (typed) return undefined
  const secretMatch = findSecretInText(text, secrets)
  if (secretMatch === 'whole') return deny('url-secret', 'The address would carry a secret away.')
  if (secretMatch === 'part') return ask('url-secret', 'The address holds a part of a secret.')
  const data = findDataInUrl(text, url)
  if (data !== undefined) {
    return ask('url-data', `Nobody typed this address, and ${data}: it may carry something away.`)
  }
  for (const value of url.searchParams.values()) {
    const inside = /^https?:\/\//i.test(value) ? parseUrl(value) : undefined
    if (inside && !('verdict' in inside) && checkHost(inside, {})?.verdict === 'deny') {
      return ask('url-data', `It asks ${url.hostname} to fetch an inner address.`)
    }
  }
  return undefined
}

function isOpenedHost(host: string, { open = [] }: UrlCheckOptions): boolean {
  return open.includes(host) || open.includes(host.replace(/:\d+$/, ''))
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

export const deny = (rule: string, why: string): Decision => ({ verdict: 'deny', rule, why })
export const allow = (rule: string, why: string): Decision => ({ verdict: 'allow', rule, why })
const ask = (rule: string, why: string): Decision => ({ verdict: 'ask', rule, why })
