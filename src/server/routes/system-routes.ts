import { createOpenApi } from '../http/openapi.ts'
import { ApiError } from '../http/api-error.ts'
import type { Route } from '../http/route.ts'
import { objectOf } from '../http/schemas.ts'

interface SystemRouteOptions {
  readonly version: string
  /** All routes, with these. */
  readonly listRoutes: () => readonly Route[]
  /** Rejects if the server cannot do its work. */
  readonly checkReady: () => Promise<void>
}

export function createSystemRoutes({ version, listRoutes, checkReady }: SystemRouteOptions): readonly Route[] {
  const status = objectOf({ status: { const: 'ok' } })
  return [
    {
      method: 'GET',
      path: '/healthz',
      operation: 'getHealth',
      summary: 'The process is alive.',
      responses: { 200: { description: 'It is.', schema: status } },
      handle: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
    },
    {
      method: 'GET',
      path: '/readyz',
      operation: 'getReadiness',
      summary: 'The server can do its work: its storage can be reached, and it is not stopping.',
      responses: { 200: { description: 'It can.', schema: status } },
      async handle() {
        await checkReady().catch(() => {
          throw new ApiError('unavailable', 'The server is not ready.')
        })
        return { status: 200, body: { status: 'ok' } }
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      operation: 'getMetrics',
      summary: 'Counters of this process for Prometheus, without names of tenants.',
      scope: 'metrics',
      responses: { 200: { description: 'The text format of Prometheus.', type: 'text/plain' } },
      handle: ({ metrics }) =>
        Promise.resolve({
          status: 200,
          bytes: Buffer.from(metrics.format()),
          headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
        }),
    },
    {
      method: 'GET',
      path: '/openapi.json',
      operation: 'getOpenApi',
      summary: 'This document.',
      responses: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
      handle: () => Promise.resolve({ status: 200, body: createOpenApi(listRoutes(), version) }),
    },
  ]
}
