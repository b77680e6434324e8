import { defined } from '../model/defined.ts'
import type { Fault } from '../model/fault.ts'
import type { BudgetLedger } from '../provider/optional-middleware.ts'
import type { ClientResponse } from './client-response.ts'
import { countTokens } from './count-tokens.ts'
import type { ExchangeLog, ExchangeRecorder } from './exchange-log.ts'
import type { AttemptResult, GatewayRequest } from './gateway-request.ts'
import type { Limits, PriceCalculator } from './limits.ts'
import { passThrough } from './pass-through.ts'
import type { ChosenRoute, RoutingTable } from './routing-table.ts'
import { translate } from './translate.ts'
import type { Upstream, Upstreams } from './upstream.ts'

export interface AnswerContext {
  readonly table: RoutingTable
  readonly upstreams: Upstreams
  readonly limits: Limits
  readonly log: ExchangeLog
  readonly price: PriceCalculator
  readonly envelopeKey: Uint8Array
  /** The providers that get the client's own key. */
  readonly passKeys: readonly string[]
  /** US dollars per day for all clients together. */
  readonly maxCostPerDay?: number
}

interface AnswerOptions {
  readonly recorder: ExchangeRecorder
  readonly isCount: boolean
}

/** Finds the models for a request, and asks one after the other until one answers; returns the fault if none does. */
export async function answerRequest(
  context: AnswerContext,
  request: GatewayRequest,
  response: ClientResponse,
  { recorder, isCount }: AnswerOptions,
): Promise<Fault | undefined> {
  const route = context.table.choose(request.model, request.client) ?? toLiteralRoute(request.model)
  if (!route) return createUnknownModelFault(request.model, context.table)
  const found = await findUpstreams(context, route)
  if ('fault' in found) return found.fault
  const [first] = found
  if (isCount && first) {
    const isKeyPassed = context.passKeys.includes(first.endpoint.provider.id)
    const { clientKey: _key, ...others } = request
    const counted = isKeyPassed ? request : others
    recorder.update({ mode: await countTokens(counted, response, first, context.upstreams.httpClient) })
    return undefined
  }
  const leave = await context.limits.enter(route.key, route.concurrency, request.signal)
  if (!leave) return undefined
  try {
    return await askInOrder(context, request, response, { route, upstreams: found, recorder })
  } finally {
    leave()
  }
}

/** A model that is named with its provider needs no route. */
function toLiteralRoute(model: string): ChosenRoute | undefined {
  return /^[\w.-]+\/./.test(model) ? { key: 'literal', models: [model] } : undefined
}

export function createUnknownModelFault(model: string, table: RoutingTable): Fault {
  const routes = table.describe()
  const known = routes.length === 0 ? 'No routes are configured' : `There are routes for ${routes.join(', ')}`
  const message = `The gateway has no route for the model “${model.slice(0, 100)}”. ${known}; a name like provider/model works for every provider with a key.`
  return { kind: 'invalid', status: 404, message }
}

async function findUpstreams(
  { upstreams }: AnswerContext,
  { models }: ChosenRoute,
): Promise<readonly Upstream[] | { fault: Fault }> {
  const resolved = await Promise.all(models.map((name) => upstreams.find(name)))
  const usable = resolved.flatMap((one) => ('problem' in one ? [] : [one]))
  if (usable.length > 0) return usable
  const [first] = resolved
  if (!first || !('problem' in first))
    return { fault: { kind: 'invalid', status: 404, message: 'The route names no model.' } }
  // The client's own token is right: it is the gateway that has no key.
  const status = first.code === 41 ? 503 : 404
  return { fault: { kind: 'invalid', status, message: first.problem } }
}

interface Attempts extends Pick<AnswerOptions, 'recorder'> {
  readonly route: ChosenRoute
  readonly upstreams: readonly Upstream[]
}

async function askInOrder(
  context: AnswerContext,
  request: GatewayRequest,
  response: ClientResponse,
  { route, upstreams, recorder }: Attempts,
): Promise<Fault | undefined> {
  const ledgers = listLedgers(context, route, request.client)
  const signer = upstreams.find(({ endpoint }) => endpoint.wire === request.wire.id)?.endpoint.profile.signer
  for (const [at, upstream] of upstreams.entries()) {
    const hasFallback = at + 1 < upstreams.length
    const { provider, model, wire } = upstream.endpoint
    const isSameWire = wire === request.wire.id
    const key = context.passKeys.includes(provider.id) ? request.clientKey : undefined
    recorder.update({
      provider: provider.id,
      upstreamModel: model,
      upstreamWire: wire,
      mode: isSameWire ? 'pass-through' : 'translated',
    })
    const result: AttemptResult = isSameWire
      ? await passThrough(request, response, {
          endpoint: upstream.endpoint,
          httpClient: context.upstreams.httpClient,
          maxSilenceMs: context.upstreams.maxSilenceMs,
          ledgers,
          recorder,
          hasFallback,
          ...defined({ key }),
        })
      : await translate(request, response, {
          model: upstream.openModel(ledgers, key),
          key: context.envelopeKey,
          recorder,
          ...defined({ signer }),
        })
    const { usage } = recorder.exchange
    if (usage) recorder.update(defined({ cost: context.price({ provider: provider.id, model, wire }, usage) }))
    if (!('fault' in result)) return undefined
    if (!hasFallback || !mayFallBack(result.fault) || request.signal.aborted) return result.fault
    recorder.addWarnings([{ code: 'fallback', message: `${upstream.name}: ${result.fault.message}` }])
  }
  return undefined
}

function listLedgers(
  { limits, maxCostPerDay }: AnswerContext,
  { key, maxCostPerDay: ofRoute }: ChosenRoute,
  client: string,
): BudgetLedger[] {
  return [
    ...(maxCostPerDay === undefined ? [] : [limits.getLedger('all', maxCostPerDay)]),
    ...(ofRoute === undefined ? [] : [limits.getLedger(`${key} ${client}`, ofRoute)]),
  ]
}

/** Is the failure the model's, and not the request's? A budget is ours. */
function mayFallBack({ kind, code, status }: Fault): boolean {
  if (kind === 'overflow' || kind === 'policy' || code === 'budget') return false
  return kind !== 'invalid' || status === 404
}
