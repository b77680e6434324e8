import type { RunEvent } from '../../agent/loop/run-event.ts'
import type { RunTracer } from '../../agent/telemetry/trace-run.ts'
import type { TelemetryConfig } from '../config/schema.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import type { TelemetryExporter } from './telemetry-export.ts'

export type Telemetry = NonNullable<ReturnType<typeof createTelemetry>>

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Telemetry, if a collector is configured. The exporter is loaded after the first request is sent; until then events wait. */
export function createTelemetry(config: TelemetryConfig = {}, env: EnvironmentVariables = process.env) {
  const url = resolveCollectorUrl(config, env)
  if (url === undefined) return undefined
  const pendingEvents: { event: RunEvent; at: number }[] = []
  let exporter: Promise<TelemetryExporter> | undefined
  let tracer: RunTracer | undefined

  const load = () =>
    (exporter ??= import('./telemetry-export.ts').then(({ createTelemetryExporter }) => {
      const started = createTelemetryExporter(url, config)
      tracer = started.createRunTracer()
      for (const { event, at } of pendingEvents.splice(0)) tracer.onEvent(event, at)
      return started
    }))

  return {
    onEvent(event: RunEvent): void {
      if (tracer) tracer.onEvent(event)
      else pendingEvents.push({ event, at: Date.now() })
      if (event.type === 'turn') void load()
    },
    /** Sends the remaining spans; resolves to a message if they could not be delivered. */
    async close(): Promise<string | undefined> {
      if (pendingEvents.length === 0 && !exporter) return undefined
      const isDelivered = await (await load()).shutdown()
      return isDelivered ? undefined : `Telemetry could not be sent to ${url}.`
    },
  }
}

function resolveCollectorUrl(config: TelemetryConfig, env: EnvironmentVariables): string | undefined {
  if (/^true$/i.test(env['OTEL_SDK_DISABLED'] ?? '') || env['OTEL_TRACES_EXPORTER'] === 'none') return undefined
  const tracesUrl = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined
  const baseUrl = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || config.endpoint
  const url =
    tracesUrl ?? (baseUrl && (/\/v1\/traces\/?$/.test(baseUrl) ? baseUrl : `${baseUrl.replace(/\/+$/, '')}/v1/traces`))
  if (url === undefined) return undefined
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new UserError(`the telemetry endpoint is not an http(s) URL: ${url}`, EXIT_CODE.config)
}
