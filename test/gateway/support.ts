import { randomBytes } from 'node:crypto'
import type { TurnEvent } from '../../src/model/event.ts'
import { fold, type FoldedTurn } from '../../src/model/fold.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { Turn, WireId } from '../../src/model/turn.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/gateway/gateway.ts'
import { parseProvider, resolveModel } from '../../src/provider/index.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { createFramer } from '../../src/wire/framing/framer.ts'
import { stringifyWithRawJson } from '../../src/wire/json/raw-json.ts'
import { loadWire } from '../../src/wire/wires.ts'
import { type Answered, pathOf, post, said, TOOLS } from '../rehearsal/support.ts'

export const KEY = Buffer.alloc(32, 7)
export const TOKEN = 'token-of-the-gateway-1'

/** A provider of this id and wire, at this address. */
export function providerAt(id: string, wire: WireId, url: string, more: JsonObject = {}) {
  const base =
    wire === 'anthropic' || wire === 'code-assist' || wire === 'gemini' || wire === 'interactions' ? '' : '/v1'
  const profile = { encryptedReasoning: true, ...(more['profile'] as JsonObject | undefined) }
  const parsed = parseProvider(id, { wire, url: url + base, keys: ['TEST_KEY'], ...more, profile })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.provider
}

/** A gateway whose provider `up-<wire>` is the rehearsal on this wire; every model goes to `model`. */
export function gatewayTo(
  rehearsal: RehearsalServer,
  wires: readonly WireId[],
  { hasNoDefault = false, ...options }: Partial<GatewayOptions> & { hasNoDefault?: boolean } = {},
): Promise<Gateway> {
  const rows = wires.map((wire) => providerAt(`up-${wire}`, wire, rehearsal.url))
  return startGateway({
    token: TOKEN,
    envelopeKey: KEY,
    retry: { attempts: 1, longest: 100 },
    resolveModel: (name) => resolveModel(name, { TEST_KEY: 'upstream-key-123', GOOGLE_CLOUD_PROJECT: 'p' }, rows),
    ...(wires[0] && !hasNoDefault && { model: `up-${wires[0]}/script` }),
    ...options,
  })
}

export interface GatewayAsking {
  readonly stream?: boolean
  readonly sse?: boolean
  readonly turns?: readonly Turn[]
  readonly tools?: readonly ToolSpec[]
  readonly model?: string
  readonly headers?: Record<string, string>
  readonly body?: (body: JsonObject) => JsonObject
  readonly patience?: number
}

/** Asks the gateway as a client of this wire does: encodes, sends, and decodes what comes. */
export async function askGateway(
  gateway: Gateway,
  wire: WireId,
  asking: GatewayAsking = {},
): Promise<FoldedTurn & { answered: Answered; sent: JsonObject }> {
  const { stream = true, sse = true, turns = [said('Go.')], tools = TOOLS, model = 'any-model' } = asking
  const codec = await loadWire(wire)
  const profile = { ...codec.profile, signer: wire, encryptedReasoning: true, signatures: 'optional' as const }
  const request: ModelRequest = { model, system: 'Be brief.', tools, turns, params: { stream, maxTokens: 1000 } }
  const encoded = codec.encodeRequest(request, profile).body
  const sent = asking.body?.(encoded) ?? encoded
  const answered = await post(gateway.url + pathOf(wire, model, stream, sse), stringifyWithRawJson(sent), {
    headers: { authorization: `Bearer ${gateway.token}`, ...asking.headers },
    patience: asking.patience ?? 60_000,
  })
  const { status, headers } = answered
  const turnKey = `k${randomBytes(9).toString('hex')}`
  const state = codec.startDecoding({ turnKey, profile, tools, status, headers })
  const frames = createFramer(headers['content-type'])
  const events: TurnEvent[] = []
  for (const chunk of answered.chunks)
    for (const frame of frames.push(chunk)) events.push(...codec.decodeFrame(state, frame))
  for (const frame of frames.end()) events.push(...codec.decodeFrame(state, frame))
  events.push(...codec.finishDecoding(state, answered.broke ? { kind: 'transport', message: 'It broke.' } : undefined))
  return { ...fold(events, { provider: wire, wire, model }), answered, sent }
}
