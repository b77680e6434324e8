import { defined } from '../model/defined.ts'
import type { Backend, QueueWorker } from './backend.ts'
import { startHttpServer } from './http/http-server.ts'
import { createMetrics } from './http/metrics.ts'
import type { ApiRequest, Route } from './http/route.ts'
import { hashToken, type TenantConfig } from './http/tenants.ts'
import { approvalRoutes } from './routes/approval-routes.ts'
import { eventRoutes } from './routes/event-routes.ts'
import { createFileRoutes, type FindWorkspaceFiles } from './routes/file-routes.ts'
import { promptRoutes } from './routes/prompt-routes.ts'
import { scheduleRoutes } from './routes/schedule-routes.ts'
import { createSessionRoutes } from './routes/session-routes.ts'
import { createSystemRoutes } from './routes/system-routes.ts'
import { createSessionService } from './session-service.ts'
import type { SessionSettings } from './session-settings.ts'
import { type SessionQueueWorkerOptions, startQueueWorker } from './start-worker.ts'
import { findWorkspaceProblem } from './workspace-url.ts'

export interface SessionServerOptions {
  readonly backend: Backend
  /** The names of the agents that sessions may have; the first one is the default. */
  readonly agents: readonly string[]
  /** `provider/model` of sessions that name none. Their limits count for its provider. */
  readonly model: string
  readonly tenants: Readonly<Record<string, TenantConfig>>
  /** Without it, this process answers requests, and others work on the sessions. */
  readonly worker?: SessionQueueWorkerOptions
  readonly port?: number
  readonly host?: string
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
  readonly maxBodyBytes?: number
  readonly version?: string
  readonly findWorkspaceFiles?: FindWorkspaceFiles
  readonly removeWorkspace?: (tenant: string, session: string) => Promise<void>
  readonly onError?: (message: string) => void
}

/** A server that runs. */
export interface SessionServer {
  readonly url: string
  /** Waits as long as `graceMs` for runs in progress. What is left then goes on with the next start, or elsewhere. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** Serves sessions over HTTP, and works on them, if this process has a worker. */
export async function startSessionServer(options: SessionServerOptions): Promise<SessionServer> {
  const { backend, tenants, model, onError = () => {} } = options
  const metrics = createMetrics()
  const getProvider = (settings: SessionSettings): string => (settings.model ?? model).split('/')[0] ?? ''
  const service = createSessionService({ backend, getProvider })
  let isClosing = false

  const routes: readonly Route[] = [
    ...createSessionRoutes({
      agents: options.agents,
      findSettingsProblem: (settings, request) => findSettingsProblem(settings, request, model),
      ...defined({ onRemove: options.removeWorkspace }),
    }),
    ...promptRoutes,
    ...approvalRoutes,
    ...eventRoutes,
    ...createFileRoutes(options.findWorkspaceFiles ?? (() => undefined)),
    ...scheduleRoutes,
    ...createSystemRoutes({
      version: options.version ?? '0',
      listRoutes: () => routes,
      async checkReady() {
        if (isClosing) throw new Error('The server stops.')
        const [tenant] = Object.keys(tenants)
        if (tenant !== undefined) await backend.getStore(tenant).list({ limit: 1 })
      },
    }),
  ]

  for (const [tenant, { limits, models = [] }] of Object.entries(tenants)) {
    const providers = new Set([model, ...models].map((one) => getProvider({ model: one })))
    const { concurrency, startsPerMinute: perMinute } = limits ?? {}
    // Also without any: those of the last start may be in the database.
    for (const provider of providers)
      await backend.queue.setLimits({ tenant, provider, ...defined({ concurrency, perMinute }) })
  }
  const quotas = (tenant: string): number | undefined => tenants[tenant]?.limits?.dollarsPerMonth
  let worker: QueueWorker | undefined
  if (options.worker)
    worker = await startQueueWorker(backend, {
      getQuota: quotas,
      ...options.worker,
      onRunEnd: ({ reason, ms }) => metrics.countRun(reason, ms / 1000),
    })
  const { port, host, hosts, origins, maxBodyBytes } = options
  const address = defined({ port, host, hosts, origins, maxBodyBytes })
  try {
    const server = await startHttpServer({ service, routes, tenants, metrics, onError, ...address })
    return {
      url: server.url,
      async close(closeOptions) {
        isClosing = true
        await Promise.all([server.close(), worker?.stop(closeOptions)])
      },
    }
  } catch (error) {
    await worker?.stop()
    throw error
  }
}

/** A tenant uses only what its settings name: other models, machines and repositories may cost or show what it must not. */
function findSettingsProblem(settings: SessionSettings, { config }: ApiRequest, model: string): string | undefined {
  const { models = [], labels = [], git = [] } = config
  if (settings.model !== undefined && settings.model !== model && !matchesAny(settings.model, models))
    return `The model “${settings.model}” is not one of those that this token may use.`
  if (settings.label !== undefined && !matchesAny(settings.label, labels))
    return `The label “${settings.label}” is not one of those that this token may use.`
  return settings.workspace && findWorkspaceProblem(settings.workspace, git)
}

function matchesAny(name: string, allowed: readonly string[]): boolean {
  return allowed.includes(name) || allowed.includes('*')
}

/** The only tenant of a server without settings: its token may do everything. */
export function createSingleTenant(token: string): Readonly<Record<string, TenantConfig>> {
  const tokens = [{ hash: hashToken(token), scopes: ['admin'] as const }]
  return { [SINGLE_TENANT]: { ...SINGLE_TENANT_RIGHTS, tokens } }
}

export const SINGLE_TENANT = 'default'

/** It is who started the server. */
export const SINGLE_TENANT_RIGHTS = {
  models: ['*'],
  labels: ['*'],
  git: ['*'],
  web: true,
  mcpServers: ['*'],
  memory: true,
} as const satisfies Omit<TenantConfig, 'tokens'>
