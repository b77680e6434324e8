import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { RunTracer } from '../../agent/telemetry/trace-run.ts'
import type { TelemetryConfig } from '../config/schema.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import type { TelemetryExporter } from './telemetry-export.ts'
import { defined } from '../../model/defined.ts'

/** Sends what happens to a collector. */
export interface Telemetry {
  onEvent(event: RunEvent): void
  /** Sends what is left; a sentence if it could not be delivered. */
  close(): Promise<string | undefined>
}

/** The variables of a process. */
type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/**
 * Telemetry, if somebody has named a collector; else there is none, and nothing of it is loaded. It is loaded when the
 * first request is under way; until then events wait.
 */
export function createTelemetry(
  config: TelemetryConfig = {},
  env: EnvironmentVariables = process.env,
): Telemetry | undefined {
  const url = resolveCollectorUrl(config, env)
  if (url === undefined) return undefined
  const pendingEvents: { event: RunEvent; at: number }[] = []
  let exporter: Promise<TelemetryExporter> | undefined
  let tracer: RunTracer | undefined

  const load = () =>
    (exporter ??= import('./telemetry-export.ts').then(({ createTelemetryExporter }) => {
      const started = createTelemetryExporter({
        url,
        ...defined({ headers: config.headers }),
        ...(config.prompts && { prompts: true }),
      })
      tracer = started.createRunTracer()
      for (const { event, at } of pendingEvents.splice(0)) tracer.onEvent(event, at)
      return started
    }))

  return {
    onEvent(event) {
      if (tracer) tracer.onEvent(event)
      else pendingEvents.push({ event, at: Date.now() })
      if (event.type === 'turn') void load()
    },
    async close() {
      if (pendingEvents.length === 0 && !exporter) return undefined
      const isDelivered = await (await load()).shutdown()
      return isDelivered ? undefined : `Spans could not be delivered to ${url}.`
    },
  }
}

/** The address of the collector, as the usual variables or the settings name it. */
function resolveCollectorUrl(config: TelemetryConfig, env: EnvironmentVariables): string | undefined {
  if (/^true$/i.test(env['OTEL_SDK_DISABLED'] ?? '') || env['OTEL_TRACES_EXPORTER'] === 'none') return undefined
  const tracesUrl = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined
  const baseUrl = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || config.endpoint
  const url =
    tracesUrl ?? (baseUrl && (/\/v1\/traces\/?$/.test(baseUrl) ? baseUrl : `${baseUrl.replace(/\/+$/, '')}/v1/traces`))
  if (url === undefined) return undefined
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new UserError(`the address for telemetry is no http(s) URL: ${url}`, EXIT_CODE.config)
}
