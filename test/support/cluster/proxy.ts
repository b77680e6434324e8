import { connect, createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A way to a server that can be blocked. */
export interface Proxy {
  readonly port: number
  /** Ends all connections, and refuses others. */
  cut(): void
  /** Lets nothing through, without a word, as a network does that loses everything. */
  freeze(): void
  restore(): void
  close(): void
}

/** Forwards a port of 127.0.0.1 to a socket of this machine. */
export async function startProxy(target: string): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let mode: 'open' | 'cut' | 'frozen' = 'open'
  const server = createServer((inner) => {
    if (mode === 'cut') {
      inner.destroy()
      return
    }
    const outer = connect(target)
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(one)
      one.on('data', (bytes) => mode !== 'frozen' && other.write(bytes))
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        // Who is cut off does not hear that the other side has gone, either.
        if (mode !== 'frozen') other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      mode = 'cut'
      destroyAll()
    },
    freeze: () => void (mode = 'frozen'),
    restore() {
      // Bytes were lost, so no connection from before can go on.
      if (mode === 'frozen') destroyAll()
      mode = 'open'
    },
    close() {
      server.close()
      destroyAll()
    },
  }
}
