/**
 * What other folders use of `provider` in every run. Modules that only some runs need have entry files of their own,
 * which are loaded when they are needed: `catalog.ts`, `clock.ts`, `forwarding.ts`, `optional-middleware.ts`, `model-list.ts`,
 * `sign-in.ts` and `recording.ts`. Everything else in this folder is internal; `test/architecture` checks that.
 */
export type { Model, RequestOptions, SentRequest } from './model.ts'
export {
  findDefaultModel,
  findLocalModel,
  isBaseUrlConfigured,
  mayProbeLocalServer,
  resolveModel,
  type CredentialSources,
  type SavedCapabilitiesLookup as FindSavedCapabilities,
  type ModelResolveError as ResolveError,
} from './resolve-model.ts'
export {
  createHttpClient,
  createModel,
  getSharedHttpClient,
  tryFetchJson as probeJson,
} from './http/node-http-client.ts'
export {
  findProvider,
  HEADER_VALUE_PATTERN as HEADER_VALUE,
  getBaseUrlVariable,
  isLoopback,
  toDisplayUrl,
  type Endpoint,
  type Environment,
  type GrantedCredential,
} from './endpoint.ts'
export type { Capabilities, ProviderDefinition } from './provider-definition.ts'
export { sleep, systemClock, type Clock } from './clock.ts'
export type { HttpClient, HttpRequest, HttpResponse } from './http/http-client.ts'
export { createProvider, type ProviderSettings } from './create-provider.ts'
export { openEndpoint, wrapInsideRetry } from './open-endpoint.ts'
export { isRetryable, withRetry } from './middleware/retry.ts'
export { withAdaptation } from './middleware/adaptation/with-adaptation.ts'
export {
  listCredentialSecrets as listSecrets,
  type CredentialStore,
  type StoredCredential,
} from './auth/stored-credential.ts'
export { providers } from './providers.ts'
export { MAX_SILENCE_MS, createTimeouts, type Timeouts } from './http/timeouts.ts'
export { mergeCapabilities, resolveCapabilities } from './resolve-capabilities.ts'
export { parseCapabilities, parseProvider } from './parse-provider.ts'
export { withDefaultParams } from './middleware/with-default-params.ts'
export { wrapModel } from './middleware/wrap-model.ts'
export { formatDuration } from './http/transport-faults.ts'
export { findProxy } from './http/proxy.ts'
export { createCredentialSources, readCredentialFile } from './auth/credential-sources.ts'
export { createCredentialStore } from './auth/credential-store.ts'
