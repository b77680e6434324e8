import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Request } from '../../model/request.ts'
import type { ModelPort, Sending } from '../port.ts'
import { keyOf, passOn, sentence } from './wrapped.ts'

/** The models of a list, each asked only when the one before cannot answer; the log says who did. */
export function fallback(ports: readonly [ModelPort, ...ModelPort[]]): ModelPort {
  // Without money, a key or the model itself, the next request will fare no better.
  const gone = new Set<ModelPort>()
  const first = (): ModelPort => ports.find((one) => !gone.has(one)) ?? ports[0]

  async function* ask(request: Request, sending: Sending): AsyncGenerator<TurnEvent> {
    const told = new Set<string>()
    const start = first()
    const line = ports.slice(ports.indexOf(start))
    if (start !== ports[0]) yield { type: 'open', origin: start.origin }
    for (const [at, current] of line.entries()) {
      const key = keyOf(sending.key, 'f', ports.indexOf(current))
      const finish = yield* passOn(current.ask(request, { ...sending, key }), told)
      const fault = finish.reason === 'fault' ? finish.fault : undefined
      if (fault && isLasting(fault)) gone.add(current)
      const next = line[at + 1]
      if (!fault || !next || !isTheirs(fault) || sending.signal?.aborted) {
        yield finish
        return
      }
      const message = `${named(current)}: ${sentence(fault.message)} Going on with ${named(next)}.`
      yield { type: 'warn', warning: { code: 'fallback', message } }
      yield { type: 'open', anew: true, fault, origin: next.origin }
    }
  }

  const port = {
    get origin() {
      return first().origin
    },
    get window() {
      return first().window
    },
    ask,
  }
  return port as ModelPort
}

function isLasting({ kind, status }: Fault): boolean {
  return kind === 'quota' || kind === 'auth' || (kind === 'invalid' && status === 404)
}

/** Is it the model that fails, and not our request? A budget is ours, whoever answers. */
function isTheirs(fault: Fault): boolean {
  if (fault.kind === 'overflow' || fault.kind === 'policy') return false
  return fault.code !== 'budget' && (fault.kind !== 'invalid' || fault.status === 404)
}

function named({ origin }: ModelPort): string {
  return `${origin.provider}/${origin.model}`
}
