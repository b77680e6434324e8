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

describe('a long response', () => {
  /** Sends megabytes as fast as they are taken. */
  const sendMegabytes = async (response: ServerResponse, count: number, onSent: () => void) => {
    const piece = Buffer.alloc(MEGABYTE, 'y')
    response.setMaxListeners(0)
    for (let at = 0; at < count && !response.destroyed; at++) {
      onSent()
      if (!response.write(piece)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    }
    response.end()
  }

  test('is not read into memory while nobody reads it, and arrives whole', async (t) => {
    let sent = 0
    const url = await serverOf(t, (_request, response) => void sendMegabytes(response, 64, () => sent++))
    const reply = await createHttpClient({})({ url, headers: {}, body: [] }, AbortSignal.timeout(60_000))
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.ok(sent < 32, `${sent} MB were sent`)
    assert.equal((await textOf(reply)).length, 64 * MEGABYTE)
  })

  test('is read in short steps, between which other work gets its turn', async (t) => {
    const url = await serverOf(t, (_request, response) => {
      for (let at = 0; at < 10_000; at++) response.write('a piece of a hundred characters'.padEnd(100))
      response.end()
    })
    const reply = await createHttpClient({})({ url, headers: {}, body: [] }, AbortSignal.timeout(60_000))
    let turns = 0
    const countTurn = (): void => {
      turns += 1
      turn = setImmediate(countTurn)
    }
    let turn = setImmediate(countTurn)
    t.after(() => clearImmediate(turn))
    let longest = 0
    let steps = 0
    for await (const piece of reply.body) {
      longest = Math.max(longest, piece.length)
      steps += 1
    }
    assert.ok(longest <= 2 ** 14 + 100, `${longest} bytes in a step`)
    assert.ok(steps > 50, `${steps} steps`)
    assert.ok(turns >= steps / 2, `${turns} turns between ${steps} steps`)
  })

  test('is read in shorter steps by a reader that takes long for them', async (t) => {
    const url = await serverOf(t, (_request, response) => {
      for (let at = 0; at < 10_000; at++) response.write('a piece of a hundred characters'.padEnd(100))
      response.end()
    })
    const readSteps = async (workMs: number): Promise<number[]> => {
      const reply = await createHttpClient({})({ url, headers: {}, body: [] }, AbortSignal.timeout(60_000))
      const steps: number[] = []
      for await (const piece of reply.body) {
        steps.push(piece.length)
        for (const start = performance.now(); performance.now() - start < workMs;);
      }
      return steps
    }
    const slow = await readSteps(5)
    const settled = slow.slice(10, -1)
    assert.ok(Math.max(...settled) <= 2 ** 11 + 100, `${Math.max(...settled)} bytes`)
    const fast = await readSteps(0)
    assert.ok(Math.max(...fast) > 2 ** 13, `${Math.max(...fast)} bytes`)
  })

  test('that breaks off gives what arrived, and then the error', async (t) => {
    const url = await serverOf(t, (_request, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('begun')
      setTimeout(() => response.destroy(), 50)
    })
    const reply = await createHttpClient({})({ url, headers: {}, body: [] }, AbortSignal.timeout(60_000))
    const arrived: string[] = []
    await assert.rejects(async () => {
      for await (const piece of reply.body) arrived.push(Buffer.from(piece).toString())
    })
    assert.deepEqual(arrived, ['begun'])
  })

  test('is closed by a reader that stops', async (t) => {
    let close = (): void => undefined
    const closed = new Promise<void>((resolve) => {
      close = resolve
    })
    const url = await serverOf(t, (_request, response) => {
      response.once('close', close)
      void sendMegabytes(response, 64, () => undefined)
    })
    const reply = await createHttpClient({})({ url, headers: {}, body: [] }, AbortSignal.timeout(60_000))
    for await (const piece of reply.body) {
      assert.ok(piece.length > 0)
      break
    }
    await closed
  })
})
