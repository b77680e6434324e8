/** `dragoman/server`: sessions over HTTP, workers with tools of your own, and the client. */
export type {
  Backend,
  Inbox,
  InboxMessage,
  Job,
  JobHandler,
  JobOutcome,
  JobQueue,
  JobStatus,
  LiveEvents,
  QueueLimits,
  QueueWorker,
  Schedule,
  SessionKey,
  Spending,
  WorkerOptions,
} from './server/backend.ts'
export { type ConnectOptions, ServerError } from './server/client/api-client.ts'
export { connect, type Connection, type RemoteAgent, type RemoteRunOptions } from './server/client/connect.ts'
export { backendConformance, type BackendCase, type BackendSetup } from './server/conformance.ts'
export { hashToken, type Scope, type TenantConfig, type TenantLimits, type TokenConfig } from './server/http/tenants.ts'
export { localBackend, type LocalBackend, type LocalBackendOptions } from './server/local/local-backend.ts'
export { serve, type ServeOptions } from './server/serve.ts'
export type { SessionServer } from './server/session-server.ts'
export type { SessionInfo, SessionState } from './server/session-service.ts'
export type { GitWorkspace, SessionSettings } from './server/session-settings.ts'
export { worker, type SessionWorkerHandle, type WorkerProgramOptions } from './server/worker.ts'
export type { ServedAgentOptions, SessionContext } from './server/worker/agent-source.ts'
export type { AgentDefinition } from './server/worker/named-agents.ts'
export type { RetryOptions } from './server/worker/retry-delay.ts'
