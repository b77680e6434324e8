import { Duplex } from 'node:stream'
import type { SocketConnector } from '../../src/host/web/connect.ts'

/** What a fake server answers. */
export interface FakeAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** A request as it came over a fake connection. */
export interface FakeRequest {
  readonly address: string
  readonly host: string
  readonly path: string
  readonly headers: string
}

/** A net in memory: every connection that is made, and every request that is sent over one. */
export interface FakeNet {
  readonly dial: SocketConnector
  readonly dialled: string[]
  readonly requests: FakeRequest[]
}

/** Makes a net whose servers answer as they are told; nothing leaves the process. */
export function fakeNet(answer: (request: FakeRequest) => FakeAnswer, refuses = false): FakeNet {
  const dialled: string[] = []
  const requests: FakeRequest[] = []
  const dial: SocketConnector = ({ address }) => {
    dialled.push(address)
    if (refuses) return Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    let heard = ''
    const socket: Duplex = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        heard += chunk.toString('latin1')
        if (heard.endsWith('\r\n\r\n')) respond()
        done()
      },
    })
    const respond = (): void => {
      const [first = '', ...lines] = heard.trim().split('\r\n')
      const host =
        lines
          .find((line) => /^host:/i.test(line))
          ?.slice(5)
          .trim() ?? ''
      const request = { address, host, path: first.split(' ')[1] ?? '', headers: lines.join('\n').toLowerCase() }
      requests.push(request)
      const { status, headers = {}, body = '' } = answer(request)
      const bytes = Buffer.from(body)
      const head = Object.entries({ 'content-type': 'text/plain', 'content-length': bytes.length, ...headers })
      socket.push(`HTTP/1.1 ${status} OK\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
      socket.push(bytes)
      socket.push(null)
    }
    return Promise.resolve(socket)
  }
  return { dial, dialled, requests }
}
