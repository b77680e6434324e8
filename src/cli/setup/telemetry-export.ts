import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { traceRun } from '../../agent/telemetry/trace-run.ts'
import { createRedactor, findEnvironmentSecrets } from '../../model/security/redactor.ts'
import type { TelemetryConfig } from '../config/schema.ts'
import { version } from '../version.ts'
import { defined } from '../../model/defined.ts'

export type TelemetryExporter = ReturnType<typeof createTelemetryExporter>

const EXPORT_TIMEOUT_MS = 2000

/** Sends spans over OTLP/HTTP. */
export function createTelemetryExporter(url: string, { headers, prompts = false }: TelemetryConfig) {
  let isDelivered = true
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS, ...defined({ headers }) })
  const trackingExporter = {
    export: (...[spans, done]: Parameters<typeof exporter.export>) =>
      exporter.export(spans, (result) => {
        isDelivered &&= result.error === undefined
        done(result)
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'dragoman', 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter: trackingExporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  })
  const tracer = provider.getTracer('dragoman', version)
  return {
    createRunTracer: () =>
      traceRun(tracer, { prompts, redact: createRedactor(findEnvironmentSecrets(process.env)).redact }),
    /** Sends the remaining spans; resolves to whether all were delivered. */
    async shutdown(): Promise<boolean> {
      await provider.shutdown().catch(() => (isDelivered = false))
      return isDelivered
    },
  }
}
