import type { RunEvent } from '../../agent/run-event.ts'
import type { RunWatcher } from '../../agent/telemetry.ts'
import type { TelemetryConfig } from '../config/schema.ts'
import { Complaint, EXIT } from '../exit.ts'
import type { Exporting } from './telemetry-export.ts'

/** Sends what happens to a collector. */
export interface Telemetry {
  see(event: RunEvent): void
  /** Sends what is left; a sentence if it could not be delivered. */
  close(): Promise<string | undefined>
}

/** The variables of a process. */
type Env = Readonly<Record<string, string | undefined>>

/**
 * Telemetry, if somebody has named a collector; else there is none, and nothing of it is loaded. It is loaded when the
 * first request is under way; until then events wait.
 */
export function startTelemetry(config: TelemetryConfig = {}, env: Env = process.env): Telemetry | undefined {
  const url = endpoint(config, env)
  if (url === undefined) return undefined
  const waiting: { event: RunEvent; at: number }[] = []
  let exporting: Promise<Exporting> | undefined
  let watcher: RunWatcher | undefined

  const load = () =>
    (exporting ??= import('./telemetry-export.ts').then(({ exportTo }) => {
      const started = exportTo({
        url,
        ...(config.headers && { headers: config.headers }),
        ...(config.prompts && { prompts: true }),
      })
      watcher = started.watch()
      for (const { event, at } of waiting.splice(0)) watcher.see(event, at)
      return started
    }))

  return {
    see(event) {
      if (watcher) watcher.see(event)
      else waiting.push({ event, at: Date.now() })
      if (event.type === 'turn') void load()
    },
    async close() {
      if (waiting.length === 0 && !exporting) return undefined
      const arrived = await (await load()).end()
      return arrived ? undefined : `Spans could not be delivered to ${url}.`
    },
  }
}

/** The address of the collector, as the usual variables or the settings name it. */
function endpoint(config: TelemetryConfig, env: Env): string | undefined {
  if (/^true$/i.test(env['OTEL_SDK_DISABLED'] ?? '') || env['OTEL_TRACES_EXPORTER'] === 'none') return undefined
  const whole = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || undefined
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || config.endpoint
  const url = whole ?? (base && (/\/v1\/traces\/?$/.test(base) ? base : `${base.replace(/\/+$/, '')}/v1/traces`))
  if (url === undefined) return undefined
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url
  throw new Complaint(`the address for telemetry is no http(s) URL: ${url}`, EXIT.config)
}
