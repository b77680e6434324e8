import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { type RunWatcher, watchRun } from '../../agent/telemetry.ts'
import { redactor, secretsIn } from '../../model/secret.ts'
import { version } from '../version.ts'

/** Where spans go. */
export interface Destination {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly prompts?: boolean
}

/** Spans on their way to a collector. */
export interface Exporting {
  /** Starts watching a run. */
  watch(): RunWatcher
  /** Sends what is left; says whether all arrived. */
  end(): Promise<boolean>
}

/** A collector that does not answer keeps nobody waiting longer than this. */
const PATIENCE = 2000

/** Starts sending spans, in OpenTelemetry's protocol over HTTP. */
export function exportTo({ url, headers, prompts = false }: Destination): Exporting {
  let arrived = true
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: PATIENCE, ...(headers && { headers }) })
  const noting = {
    export: (...[spans, done]: Parameters<typeof exporter.export>) =>
      exporter.export(spans, (result) => {
        arrived &&= result.error === undefined
        done(result)
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'dragoman', 'service.version': version }),
    spanProcessors: [new BatchSpanProcessor({ exporter: noting, exportTimeoutMillis: PATIENCE })],
  })
  const tracer = provider.getTracer('dragoman', version)
  return {
    watch: () => watchRun(tracer, { prompts, clean: redactor(secretsIn(process.env)).clean }),
    async end() {
      await provider.shutdown().catch(() => (arrived = false))
      return arrived
    },
  }
}
