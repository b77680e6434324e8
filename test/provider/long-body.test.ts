import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { HttpResponse } from '../../src/provider/http/http-client.ts'

const MEGABYTE = 2 ** 20

async function serverOf(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

async function textOf({ body }: HttpResponse): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** A body of many pieces, and how many of them were asked for. */
function countedBody(count: number) {
  const body: string[] & { taken?: number } = []
  const piece = 'x'.repeat(MEGABYTE)
  body[Symbol.iterator] = function* () {
    for (body.taken = 1; body.taken <= count; body.taken++) yield piece
    return undefined
  }
  return body
}

describe('a long body', () => {
  test('arrives whole, whatever characters stand where it is divided', async (t) => {
    const url = await serverOf(t, (request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => response.end(Buffer.concat(pieces)))
    })
    const post = createHttpClient({})
    const body = ['[', '😀'.repeat(MEGABYTE), 'é', `a${'😀'.repeat(MEGABYTE)}`, '', ']']
    const reply = await post({ url, headers: {}, body }, AbortSignal.timeout(60_000))
    assert.ok((await textOf(reply)) === body.join(''))
  })

  test('is not in memory as a whole while a server does not take it; and can be stopped then', async (t) => {
    const stop = new AbortController()
    const body = countedBody(64)
    let taken = 0
    const url = await serverOf(t, () => {
      taken = body.taken ?? 0
      stop.abort()
    })
    const post = createHttpClient({})
    const sent = post({ url, headers: {}, body, bodyBytes: 64 * MEGABYTE }, stop.signal)
    await assert.rejects(sent)
    assert.ok(taken > 0 && taken < 64, `${taken} of 64`)
  })

  test('is answered by a server that does not want all of it', async (t) => {
    const url = await serverOf(t, (_, response) => response.writeHead(413).end('too much'))
    const reply = await createHttpClient({})(
      { url, headers: {}, body: countedBody(64), bodyBytes: 64 * MEGABYTE },
      AbortSignal.timeout(60_000),
    )
    assert.equal(reply.status, 413)
    assert.equal(await textOf(reply), 'too much')
  })
})
