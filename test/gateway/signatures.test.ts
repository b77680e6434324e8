import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { AssistantTurn, Turn, WireId } from '../../src/model/turn.ts'
import { startGateway } from '../../src/gateway/gateway.ts'
import { openEnvelope, sealEnvelope } from '../../src/gateway/native/signature-envelope.ts'
import { resolveModel } from '../../src/provider/index.ts'
import { stringifyWithRawJson } from '../../src/wire/json/raw-json.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers, rehearse, said } from '../rehearsal/support.ts'
import { askGateway, gatewayTo, KEY, providerAt, TOKEN } from './support.ts'

const CALL = [{ name: 'read_file', args: { path: 'a{n}' } }]
const STEPS = [{ think: 'Hm {n}.', say: 'On.', call: CALL, repeat: 4 }, { say: 'Done.' }]

/** The signatures that the scripted model made, base64 of `rehearsal:…`. */
const SIGNATURE = /"cmVoZWFyc2Fs[\w+/=-]+"/g

/** Wires on which the vendor signs something; on chat it wants its reasoning back. */
const SIGNING = wireIds.filter((wire) => wire !== 'openai-chat')

for (const upstream of SIGNING)
  describe(`signatures of ${upstream}`, () => {
    for (const client of wireIds) {
      if (client === upstream) continue
      test(`${client}: they come back over a restart, and from a client that keeps only calls`, async () => {
        const rehearsal = await rehearse(STEPS, { requires: 'signatures' })
        try {
          const turns: Turn[] = [said('Go.')]
          for (let round = 0; round < 3; round++) {
            // Each turn has a gateway of its own, with the same key.
            const gateway = await gatewayTo(rehearsal, [upstream])
            const { turn, answered } = await askGateway(gateway, client, { turns })
            await gateway.close()
            assert.equal(answered.status, 200, answered.text)
            assert.equal(answered.headers['x-dragoman-warnings'], undefined)
            turns.push(round === 1 ? keepCalls(turn, client) : turn, answers(turn))
          }
          assert.deepEqual(rehearsal.failures, [])
          const sent = JSON.stringify(rehearsal.requests.at(-1)?.body)
          assert.ok(listSignatures(sent).size >= 2, sent)
          assert.ok(!sent.includes('skip_thought_signature_validator'), sent)
        } finally {
          await rehearsal.close()
        }
      })

      test(`${client}: another model gets none of them, and they are there again afterwards`, async () => {
        const rehearsal = await rehearse(STEPS)
        const other: WireId = upstream === 'anthropic' ? 'openai-responses' : 'anthropic'
        const gateway = await gatewayTo(rehearsal, [upstream, other, client], { hasNoDefault: true })
        const ask = (wire: WireId, turns: readonly Turn[]) =>
          askGateway(gateway, client, { turns, model: `up-${wire}/script` })
        try {
          const turns: Turn[] = [said('Go.')]
          for (const wire of [upstream, other, client, upstream]) {
            const { turn, answered } = await ask(wire, turns)
            assert.equal(answered.status, 200, answered.text)
            turns.push(turn, answers(turn))
          }
          assert.deepEqual(rehearsal.failures, [])
          const bodies = rehearsal.requests.map(({ body }) => JSON.stringify(body))
          assert.ok(
            bodies.every((body) => !body.includes('ZGdtbnYx')),
            'no envelope leaves the gateway',
          )
          assert.deepEqual([...listSignatures(bodies[1] ?? '')], [])
          assert.ok(listSignatures(bodies[3] ?? '').size >= 1, bodies[3])
        } finally {
          await gateway.close()
          await rehearsal.close()
        }
      })

      test(`${client}: a changed envelope is ignored, with a warning`, async () => {
        const rehearsal = await rehearse(STEPS)
        const gateway = await gatewayTo(rehearsal, [upstream])
        try {
          const first = await askGateway(gateway, client)
          const turns = [said('Go.'), first.turn, answers(first.turn)]
          const tamper = (body: JsonObject): JsonObject =>
            JSON.parse(
              JSON.stringify(body).replaceAll(/(ZGdtbnYx[\w-]{60})(.)/g, (_all, head: string, char: string) => {
                return head + (char === 'A' ? 'B' : 'A')
              }),
            ) as JsonObject
          const { answered, turn } = await askGateway(gateway, client, { turns, body: tamper })
          assert.equal(answered.status, 200, answered.text)
          assert.match(answered.headers['x-dragoman-warnings'] ?? '', /signature-envelope/)
          assert.equal(turn.finish.reason, 'calls')
          const sent = JSON.stringify(rehearsal.requests.at(-1)?.body)
          assert.deepEqual([...listSignatures(sent)], [])
          assert.ok(!sent.includes('ZGdtbnYx'))
        } finally {
          await gateway.close()
          await rehearsal.close()
        }
      })
    }
  })

test('defaults that a client adds to the arguments of a signed call are taken away; changes are not', async () => {
  const schema = {
    type: 'object',
    properties: {
      path: { type: 'string' },
      all: { type: 'boolean', default: false },
      n: { type: 'number', default: 1 },
    },
    required: ['path'],
  }
  const tools = [{ name: 'edit', description: 'Edits.', schema }]
  const rehearsal = await rehearse([{ call: [{ name: 'edit', args: { path: 'a', n: 1 } }], repeat: 2 }], {
    requires: 'signatures',
  })
  const gateway = await gatewayTo(rehearsal, ['gemini'])
  try {
    const first = await askGateway(gateway, 'anthropic', { tools })
    const turns = [said('Go.'), first.turn, answers(first.turn)]
    const normalise = (input: JsonObject) => (body: JsonObject) =>
      JSON.parse(
        stringifyWithRawJson(body).replaceAll('"input":{"path":"a","n":1}', `"input":${JSON.stringify(input)}`),
      ) as JsonObject
    const withDefaults = await askGateway(gateway, 'anthropic', {
      tools,
      turns,
      body: normalise({ all: false, n: 1, path: 'a' }),
    })
    assert.equal(withDefaults.answered.status, 200, withDefaults.answered.text)
    assert.deepEqual(rehearsal.failures, [])
    await askGateway(gateway, 'anthropic', { tools, turns, body: normalise({ all: true, n: 1, path: 'a' }) })
    assert.match(JSON.stringify(rehearsal.requests.at(-1)?.body), /"all":true/)
  } finally {
    await gateway.close()
    await rehearsal.close()
  }
})

for (const client of ['interactions', 'code-assist'] as const)
  test(`${client}: the signature of an image comes back to the model that made it`, async () => {
    const bodies: string[] = []
    const image = {
      inlineData: { mimeType: 'image/png', data: 'aGVsbG8=' },
      thoughtSignature: 'c2lnbmF0dXJlLW9mLWltYWdl',
    }
    const parts = [{ text: 'An image:' }, image]
    const server = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
      request.on('end', () => {
        bodies.push(body)
        const chunk = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }] }
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${JSON.stringify(chunk)}\n\n`)
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const gateway = await startGateway({
      token: TOKEN,
      envelopeKey: KEY,
      model: 'up/gemini-3-pro-image',
      resolveModel: (name) => resolveModel(name, { TEST_KEY: 'k' }, [providerAt('up', 'gemini', url)]),
    })
    try {
      const { turn, answered } = await askGateway(gateway, client)
      assert.ok(
        turn.parts.some(({ kind }) => kind === 'media'),
        answered.text,
      )
      assert.ok(!answered.text.includes(image.thoughtSignature))
      await askGateway(gateway, client, { turns: [said('Draw.'), turn, said('Again.')] })
      const sent = JSON.parse(bodies.at(-1) ?? '') as { contents: { parts: JsonObject[] }[] }
      const [media] = sent.contents.flatMap((content) => content.parts).filter((part) => 'inlineData' in part)
      assert.equal(media?.['thoughtSignature'], image.thoughtSignature, bodies.at(-1))
    } finally {
      await gateway.close()
      server.close()
      server.closeAllConnections()
    }
  })

describe('an envelope', () => {
  const part = {
    kind: 'reasoning' as const,
    index: 0,
    native: { wire: 'anthropic' as const, signer: 's', data: { a: 'ü' } },
  }

  test('is opened only with its key, and unchanged', () => {
    const sealed = sealEnvelope([part], KEY)
    assert.match(sealed, /^[\w-]+$/)
    assert.equal(sealed.length % 4, 0)
    assert.deepEqual(openEnvelope(sealed, KEY), [part])
    assert.ok('problem' in (openEnvelope(sealed, Buffer.alloc(32, 8)) ?? {}))
    for (let at = 8; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      assert.ok('problem' in (openEnvelope(changed, KEY) ?? {}), `at ${at}`)
    }
    assert.ok('problem' in (openEnvelope(sealed.slice(0, -4), KEY) ?? {}))
    assert.equal(openEnvelope('EpwCCkYIBxgCKkA', KEY), undefined)
  })
})

function listSignatures(body: string): Set<string> {
  return new Set(body.match(SIGNATURE) ?? [])
}

/** Clients of some APIs send back calls, but no reasoning. */
function keepCalls(turn: AssistantTurn, client: WireId): AssistantTurn {
  const dropsReasoning = client === 'gemini' || client === 'code-assist' || client === 'openai-chat'
  return dropsReasoning ? { ...turn, parts: turn.parts.filter(({ kind }) => kind !== 'reasoning') } : turn
}
