import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json, JsonObject } from '../../model/json.ts'
import type { SessionKey } from '../backend.ts'
import type { SessionService } from '../session-service.ts'
import type { Scope, TenantConfig } from './tenants.ts'
import type { ServerLimits } from './server-limits.ts'
import type { Metrics } from './metrics.ts'

/** A route, with what the OpenAPI document says about it. Requests are checked against the same schemas. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `{name}` stands for one part of the path. */
  readonly path: string
  readonly operation: string
  readonly summary: string
  /** Without it, no token is needed. */
  readonly scope?: Scope
  readonly query?: Readonly<Record<string, ParameterSpec>>
  readonly headers?: Readonly<Record<string, ParameterSpec>>
  readonly body?: JsonObject
  readonly responses: Readonly<Record<number, ResponseSpec>>
  readonly handle: (request: ApiRequest) => Promise<Reply>
}

/** A body without required fields may be left out. */
export function needsBody({ body }: Route): boolean {
  return Array.isArray(body?.['required']) && body['required'].length > 0
}

export interface ParameterSpec {
  readonly description: string
  readonly schema: JsonObject
}

export interface ResponseSpec {
  readonly description: string
  readonly schema?: JsonObject
  /** The media type, if it is not JSON. */
  readonly type?: string
}

/** A request that was authenticated and checked. */
export interface ApiRequest {
  /** '' if the route needs no token. */
  readonly tenant: string
  readonly config: TenantConfig
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: JsonObject
  readonly service: SessionService
  readonly limits: ServerLimits
  readonly metrics: Metrics
  /** Aborted if the client goes away, or the server stops. */
  readonly signal: AbortSignal
}

export type Reply =
  | { readonly status: number; readonly body?: Json; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number; readonly bytes: Uint8Array; readonly headers: Readonly<Record<string, string>> }
  | { readonly stream: (response: ServerResponse) => Promise<void> }

export function getSessionKey({ tenant, params }: ApiRequest): SessionKey {
  return { tenant, session: params['session'] ?? '' }
}
