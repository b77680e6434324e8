import type { Fault } from '../model/fault.ts'
import { titleOf } from './refused.ts'
import { addressSource, type Target } from './target.ts'
import type { Limits } from './watch.ts'

/** A connection that failed, in a sentence that names the provider and says what can be done. */
export function connectionFault(error: unknown, target: Target, url: URL): Fault {
  const { code = '', message, proxy } = detailsOf(error)
  const name = target.row.id
  const where = `${name} (${url.host})`
  const fault = (kind: Fault['kind'], sentence: string): Fault => ({
    kind,
    message: sentence,
    ...(code !== '' && { code }),
  })
  if (proxy !== undefined) return proxyFault(code, message, proxy)
  if (CERTIFICATE.test(code))
    return fault(
      'invalid',
      `The certificate of ${where} is not trusted (${code}). If a proxy signs it, name the proxy's certificate in NODE_EXTRA_CA_CERTS.`,
    )
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return fault(
      'transport',
      `The name of ${where} could not be found. Check the network, or the address in ${addressSource(target)}.`,
    )
  if (code === 'ECONNREFUSED' && target.row.port !== undefined)
    return fault(
      'transport',
      `Nothing answers at ${url.host}. Start the ${name} server, or set ${addressSource(target)}.`,
    )
  if (code === 'ECONNREFUSED')
    return fault(
      'transport',
      `${where} refuses the connection. Try again later, or check the address in ${addressSource(target)}.`,
    )
  if (/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/.test(code))
    return fault('transport', `${where} cannot be reached. Check the network and the proxy.`)
  if (/^(?:HPE_|Z_|ERR__ERROR_|ERR_PADDING)/.test(code))
    return fault('decode', `${where} sent something that is no HTTP answer (${code}). Try again, or check the address.`)
  if (/^ERR_(?:INVALID|UNESCAPED|HTTP_INVALID)/.test(code))
    return fault('invalid', `The request to ${where} could not be written: ${message}`)
  return fault('transport', `The connection to ${where} broke off${code === '' ? '' : ` (${code})`}. Try again.`)
}

/** An answer that took too long. */
export function lateFault(which: keyof Limits, limits: Limits, target: Target): Fault {
  const time = spoken(limits[which])
  const what = {
    firstByte: `did not begin to answer within ${time}`,
    idle: `went silent for ${time}, though the connection stayed open`,
    quiet: `said nothing for ${time}, though it kept the connection open`,
    lifetime: `did not finish its answer within ${time}`,
  }
  const waited = which === 'quiet' ? limits.quiet / 2 : limits[which]
  return { kind: 'transport', code: 'timeout', message: `${target.row.id} ${what[which]}. Try again.`, waited }
}

/** An answer of which nothing can be made, and of which nothing could be made if it came again (T112). */
export function hopelessFault(text: string, deep: boolean, target: Target, url: URL): Fault | undefined {
  const who = `${target.row.id} (${url.host})`
  if (deep) return { kind: 'invalid', code: 'too-deep', message: `The answer of ${who} nests too deep to be read.` }
  if (!/^\s*</.test(text)) return undefined
  const message = `${who} answered with a web page (“${titleOf(text)}”) instead of an answer. Check the address in ${addressSource(target)}, or whether this network wants you to sign in.`
  return { kind: 'invalid', code: 'web-page', message }
}

/** The most that an answer may hold, in bytes: pictures fit in, and what is longer would only fill the memory. */
export const LONGEST_ANSWER = 32 * 2 ** 20

/** An answer that does not end. */
export function endlessFault(target: Target): Fault {
  const size = `${LONGEST_ANSWER / 2 ** 20} MB`
  return {
    kind: 'invalid',
    code: 'too-long',
    message: `The answer of ${target.row.id} is too long: more than ${size}.`,
  }
}

/** A redirect. A POST with a key in it is never sent on to where somebody else says. */
export function redirectFault(status: number, location: string | undefined, target: Target, url: URL): Fault {
  const to = location !== undefined && URL.canParse(location, url.href) ? new URL(location, url).host : 'nowhere'
  const message = `${target.row.id} (${url.host}) redirects to ${to}, which is not followed. If that is right, set ${addressSource(target)}.`
  return { kind: 'invalid', status, message }
}

/** A server that wants to speak another protocol; nobody asked for that, so it is a proxy or a wrong address. */
export function switchFault(status: number, target: Target, url: URL): Fault {
  const name = status === 101 ? ' (Switching Protocols)' : ''
  const message = `${target.row.id} (${url.host}) answered ${status}${name}, which is no answer to a request. Check the address in ${addressSource(target)}, and the proxy.`
  return { kind: 'invalid', status, message }
}

/** So many milliseconds, as a person says it. */
export function spoken(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`
  return ms < 2 * 3_600_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 3_600_000)} hours`
}

/** An error on the way through a proxy; `proxy` names it. */
export class ProxyError extends Error {
  readonly proxy: string
  readonly code: string

  constructor(proxy: string, code: string, message: string) {
    super(message)
    this.proxy = proxy
    this.code = code
  }
}

function proxyFault(code: string, message: string, proxy: string): Fault {
  if (code === '407')
    return {
      kind: 'auth',
      status: 407,
      message: `The proxy ${proxy} wants to know who asks: put user:password@ into its URL.`,
    }
  if (code === 'unspoken') return { kind: 'invalid', message }
  return {
    kind: 'transport',
    code,
    message: `The proxy ${proxy} cannot be used (${message}). Try again, or check the proxy variables.`,
  }
}

function detailsOf(error: unknown): { code?: string; message: string; proxy?: string } {
  if (!(error instanceof Error)) return { message: String(error) }
  const { code, proxy } = error as { code?: unknown; proxy?: unknown }
  return {
    message: error.message,
    ...(typeof code === 'string' && { code }),
    ...(typeof proxy === 'string' && { proxy }),
  }
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|ERR_TLS_CERT/
