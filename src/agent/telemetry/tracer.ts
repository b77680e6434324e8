/** What a span can carry. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[]>>

/** A tracer of OpenTelemetry's API, as far as it is used here; any version of it fits. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { readonly kind?: number; readonly startTime?: number; readonly attributes?: SpanAttributes },
    context?: object,
  ): object
}
