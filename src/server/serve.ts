import { defined } from '../model/defined.ts'
import type { Backend } from './backend.ts'
import type { TenantConfig } from './http/tenants.ts'
import { createSingleTenant, type SessionServer, startSessionServer } from './session-server.ts'
import { type AgentDefinition, createAgentSource } from './worker/named-agents.ts'
import type { RetryOptions } from './worker/retry-delay.ts'

/** The options of `serve`. */
export interface ServeOptions {
  readonly backend: Backend
  /** Agents by name, with tools of your own. Sessions that name none get the first one. */
  readonly agents: Readonly<Record<string, AgentDefinition>>
  /** Who may use the server; or one token that may do everything. */
  readonly tenants?: Readonly<Record<string, TenantConfig>>
  readonly token?: string
  /** Default: any free port of this machine. */
  readonly port?: number
  readonly host?: string
  /** Host names by which clients reach the server, beside `localhost` and numbers. */
  readonly hosts?: readonly string[]
  /** Origins of web pages that may use the server. */
  readonly origins?: readonly string[]
  readonly labels?: readonly string[]
  /** Sessions at the same time; default 16. With 0, this process only answers requests. */
  readonly concurrency?: number
  readonly retry?: RetryOptions
  readonly onError?: (message: string) => void
}

/** Serves sessions over HTTP, with agents and tools of your own. */
export function serve(options: ServeOptions): Promise<SessionServer> {
  const { backend, agents, token, labels, concurrency, retry } = options
  const { port, host, hosts, origins, onError } = options
  const tenants = { ...options.tenants, ...(token !== undefined && createSingleTenant(token)) }
  if (Object.keys(tenants).length === 0) throw new TypeError('serve() needs a token, or tenants')
  const worker = { openAgent: createAgentSource(agents), ...defined({ labels, concurrency, retry }) }
  return startSessionServer({
    backend,
    agents: Object.keys(agents),
    model: findModelName(agents),
    tenants,
    ...(concurrency !== 0 && { worker }),
    ...defined({ port, host, hosts, origins, onError }),
  })
}

/** The name of the first model: limits count for its provider. */
function findModelName(agents: ServeOptions['agents']): string {
  const [first] = Object.values(agents)
  const model = typeof first === 'object' ? first.model : undefined
  if (typeof model === 'string') return model.split(',')[0]?.trim() ?? ''
  return model ? `${model.origin.provider}/${model.origin.model}` : 'default/default'
}
