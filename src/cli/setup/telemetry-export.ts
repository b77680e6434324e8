import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { type RunTracer, traceRun } from '../../agent/telemetry/trace-run.ts'
import { createRedactor, findEnvironmentSecrets } from '../../model/security/redactor.ts'
import { version } from '../version.ts'
import { defined } from '../../model/defined.ts'

/** Where spans go. */
export interface CollectorOptions {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly prompts?: boolean
}

/** Spans on their way to a collector. */
export interface TelemetryExporter {
  /** Starts watching a run. */
  createRunTracer(): RunTracer
  /** Sends what is left; says whether all arrived. */
  shutdown(): Promise<boolean>
}

/** A collector that does not answer keeps nobody waiting longer than this. */
const EXPORT_TIMEOUT_MS = 2000

/** Starts sending spans, in OpenTelemetry's protocol over HTTP. */
export function createTelemetryExporter({ url, headers, prompts = false }: CollectorOptions): TelemetryExporter {
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
    async shutdown() {
      await provider.shutdown().catch(() => (isDelivered = false))
      return isDelivered
    },
  }
}
