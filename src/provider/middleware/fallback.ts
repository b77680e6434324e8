import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { Model, RequestOptions } from '../model.ts'
import { endWithPeriod } from '../../model/text.ts'
import { createAttempt, deriveAttemptKey } from './wrap-model.ts'

/** Uses each model of a list only if the previous one cannot answer; the log says which one did. */
export function withFallback(models: readonly [Model, ...Model[]]): Model {
  // Without credit, a key or the model itself, the next request would fail too.
  const unavailable = new Set<Model>()
  const first = (): Model => models.find((one) => !unavailable.has(one)) ?? models[0]

  async function* ask(request: ModelRequest, options: RequestOptions): AsyncGenerator<TurnEvent> {
    const reportedWarnings = new Set<string>()
    const start = first()
    const candidates = models.slice(models.indexOf(start))
    if (start !== models[0]) yield { type: 'open', origin: start.origin }
    for (const [at, model] of candidates.entries()) {
      const key = deriveAttemptKey(options.turnKey, 'f', models.indexOf(model))
      const attempt = createAttempt(reportedWarnings)
      for await (const event of model.stream(request, { ...options, turnKey: key }))
        if (attempt.isForwarded(event)) yield event
      const finish = attempt.getFinish()
      const fault = finish.reason === 'fault' ? finish.fault : undefined
      if (fault && isPermanentFault(fault)) unavailable.add(model)
      const next = candidates[at + 1]
      if (!fault || !next || !isProviderFault(fault) || options.signal?.aborted) {
        yield finish
        return
      }
      const message = `${formatModelName(model)}: ${endWithPeriod(fault.message)} Continuing with ${formatModelName(next)}.`
      yield { type: 'warn', warning: { code: 'fallback', message } }
      yield { type: 'open', anew: true, fault, origin: next.origin }
    }
  }

  const fallbackModel = {
    get origin() {
      return first().origin
    },
    get window() {
      return first().window
    },
    stream: ask,
  } satisfies Omit<Model, 'window'> & { readonly window: number | undefined }
  return fallbackModel as Model
}

function isPermanentFault({ kind, status }: Fault): boolean {
  return kind === 'quota' || kind === 'auth' || (kind === 'invalid' && status === 404)
}

/** Is the failure the model's, and not our request's? A budget is ours. */
function isProviderFault(fault: Fault): boolean {
  if (fault.kind === 'overflow' || fault.kind === 'policy') return false
  return fault.code !== 'budget' && (fault.kind !== 'invalid' || fault.status === 404)
}

function formatModelName({ origin }: Model): string {
  return `${origin.provider}/${origin.model}`
}
