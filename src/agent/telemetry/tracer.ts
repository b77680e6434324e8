export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[]>>

/** The part of OpenTelemetry's `Tracer` that is used; any version has it. */
export interface Tracer {
  startSpan(
    name: string,
    options?: { readonly kind?: number; readonly startTime?: number; readonly attributes?: SpanAttributes },
    context?: object,
  ): object
}
