import type { Duplex } from 'node:stream'
import { defined } from '../../model/defined.ts'

/**
 * Where a connection goes: to an address, never to a name. With `serverName` it uses TLS, and the server must prove that
 * name.
 */
export interface SocketDestination {
  readonly address: string
  readonly port: number
  readonly serverName?: string
  /** An additional trusted certificate. */
  readonly ca?: string
  /** A connection that leads there already. */
  readonly over?: Duplex
  readonly signal: AbortSignal
}

export type SocketConnector = (to: SocketDestination) => Promise<Duplex>

export interface ProxyEndpoint {
  readonly host: string
  readonly port: number
  readonly headers: Readonly<Record<string, string>>
}

interface WebDestination {
  readonly url: URL
  readonly addresses: readonly string[]
  readonly proxy: ProxyEndpoint | undefined
  readonly ca: string | undefined
  readonly signal: AbortSignal
}

/** Connects to the first checked address that answers. Names are never looked up here. */
export async function connectToAny(
  { url, addresses, proxy, ca, signal }: WebDestination,
  connectSocket: SocketConnector = connectDirectly,
): Promise<Duplex> {
  const isTls = url.protocol === 'https:'
  const port = Number(url.port || (isTls ? 443 : 80))
  const tlsOptions = isTls ? { serverName: url.hostname.replace(/^\[|\]$/g, ''), ...defined({ ca }) } : {}
  let failure: unknown
  // IPv6 addresses are unreachable on many networks, and fail slowly.
  const ordered = [...addresses].sort((one, other) => Number(one.includes(':')) - Number(other.includes(':')))
  for (const address of ordered.slice(0, MAX_CONNECT_ATTEMPTS)) {
    const timeoutSignal = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)])
    try {
      const over = proxy ? { over: await openTunnel(proxy, address, port, timeoutSignal) } : {}
      return await connectSocket({ address, port, ...tlsOptions, ...over, signal: timeoutSignal })
    } catch (error) {
      failure = error
      if (signal.aborted) break
    }
  }
  const code = failure instanceof Error ? ('code' in failure ? String(failure.code) : failure.message) : ''
  throw new Error(`${url.host} could not be reached${code === '' ? '' : ` (${code})`}.`)
}

const MAX_CONNECT_ATTEMPTS = 4
const CONNECT_TIMEOUT_MS = 8_000

async function connectDirectly({ address, port, serverName, ca, over, signal }: SocketDestination): Promise<Duplex> {
  const net = await import('node:net')
  if (serverName === undefined) return over ?? (await waitForConnection(net.connect(port, address), signal))
  const tls = await import('node:tls')
  // The certificate must be valid for the name, although the connection goes to the address.
  const servername = net.isIP(serverName) === 0 ? serverName : ''
  const trust = ca === undefined ? {} : { ca: [...tls.rootCertificates, ca] }
  const socket = tls.connect({ ...defined({ socket: over }), ...trust, host: address, port, servername })
  return await waitForConnection(socket, signal, 'secureConnect')
}

function waitForConnection<T extends Duplex>(socket: T, signal: AbortSignal, event = 'connect'): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      socket.destroy()
      reject(new Error('no answer'))
    }
    const settle = (act: () => void) => (): void => {
      signal.removeEventListener('abort', stop)
      act()
    }
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    const succeed = settle(() => resolve(socket))
    socket.once(event, succeed)
    socket.once('error', (error) => settle(() => reject(error))())
  })
}

/** Connects to the checked address through a proxy: it gets no name that it could resolve otherwise. */
async function openTunnel(proxy: ProxyEndpoint, address: string, port: number, signal: AbortSignal): Promise<Duplex> {
  const { request } = await import('node:http')
  const to = `${address.includes(':') ? `[${address}]` : address}:${port}`
  return await new Promise((resolve, reject) => {
    const { host, port: proxyPort } = proxy
    const headers = { ...proxy.headers, host: to }
    const connectRequest = request({
      host,
      port: proxyPort,
      method: 'CONNECT',
      path: to,
      headers,
      agent: false,
      signal,
    })
    const fail = (why: string): void => reject(new Error(`the proxy ${proxy.host}:${proxy.port} ${why}`))
    connectRequest.once('error', (error) => fail(`failed: ${error.message}`))
    connectRequest.once('connect', (response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      if (response.statusCode === 200) return resolve(socket)
      socket.destroy()
      fail(`answered with status ${response.statusCode}`)
    })
    connectRequest.once('response', (response) => {
      response.destroy()
      fail(`answered with status ${response.statusCode}`)
    })
    connectRequest.end()
  })
}
