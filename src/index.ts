export type { RunLimits } from './agent/agent-context.ts'
export type { ApprovalRequest, CallState } from './agent/calls/call-state.ts'
export type {
  BlockOutcome,
  HookAnswer,
  HookContext,
  HookOutcome,
  Hooks,
  PreToolUseOutcome,
  ToolUse,
} from './agent/hooks/hooks.ts'
export type {
  AgentOptions,
  ApprovalAnswer,
  InputPart,
  MediaBytes,
  ModelSettings,
  OnApproval,
  RunOptions,
} from './agent/library/agent-options.ts'
export type { PendingApproval } from './agent/library/approvals.ts'
export { agent } from './agent/library/create-agent.ts'
export {
  type NodeResponse,
  sendNodeResponse,
  toJsonEvent,
  toSseResponse,
} from './agent/library/event-stream-response.ts'
export { provider } from './agent/library/provider.ts'
export { toUiMessageStreamResponse, type UiMessageChunk } from './agent/library/ui-message-stream.ts'
export { type Agent, AgentBusyError, type InferOutput } from './agent/library/library-agent.ts'
export { type Run, RunError, type RunResult, type RunTotals } from './agent/library/run-handle.ts'
export type { CloseReason, RunEvent } from './agent/loop/run-event.ts'
export type { Tracer } from './agent/telemetry/tracer.ts'
export type { Host } from './host/host.ts'
export { localHost, type LocalHost, type LocalOptions } from './host/local-host.ts'
export type { CallDecision } from './model/call-decision.ts'
export type { TurnEvent, Warning } from './model/event.ts'
export type { Fault, FaultKind } from './model/fault.ts'
export {
  fold,
  splitRunnableCalls,
  createTurnFold,
  type FoldedTurn,
  type TurnFold,
  type RejectedCall,
} from './model/fold.ts'
export type { Json, JsonObject } from './model/json.ts'
export type { Profile } from './model/profile.ts'
export type {
  AnthropicOptions,
  GeminiOptions,
  InteractionsOptions,
  OpenAiChatOptions,
  OpenAiResponsesOptions,
  ProviderOptions,
} from './model/provider-options.ts'
export type { ModelParams, ModelRequest, OutputFormat, StoredResponse, ToolChoice, ToolSpec } from './model/request.ts'
export type {
  AssistantTurn,
  CallPart,
  Finish,
  MediaPart,
  NativeData,
  NoteTurn,
  ModelOrigin,
  Part,
  ReasoningPart,
  ResultPart,
  ResultsTurn,
  TextPart,
  Turn,
  UserTurn,
  WireId,
} from './model/turn.ts'
export type { Usage } from './model/usage.ts'
export { approvalPolicies, approvalPolicy, type ApprovalOptions } from './policy/approval-policy.ts'
export type { Effect } from './policy/effect.ts'
export type { ApprovalMode, Decision, Grant, Policy, Proposal, Verdict } from './policy/policy.ts'
export type { Catalog, ModelCard, Price } from './provider/catalog.ts'
export {
  type Capabilities,
  type Model,
  type ProviderSettings,
  type RequestOptions,
  withRetry,
} from './provider/index.ts'
export { withFallback } from './provider/optional-middleware.ts'
export { storeConformance, type StoreCase, type StoreSetup } from './session/store/conformance.ts'
export type { Entry, EntryBody, ForkPoint } from './session/log/entry.ts'
export type { LogDamage } from './session/log/scan-log.ts'
export { jsonlStore } from './session/store/jsonl-store.ts'
export { memoryStore } from './session/store/memory-store.ts'
export type { PostgresClient, PostgresRow, PostgresValue } from './session/store/postgres-client.ts'
export { listeningClient, type PostgresConnection, type PostgresPool } from './session/store/postgres-listener.ts'
export { migratePostgresStore } from './session/store/postgres-schema.ts'
export { postgresStore, type PostgresStoreOptions } from './session/store/postgres-store.ts'
export {
  StoreError,
  type FollowOptions,
  type ListOptions,
  type SessionContents,
  type SessionLog,
  type SessionSummary,
  type Store,
  type StoreErrorCode,
} from './session/store/store.ts'
export { builtinTools, type BuiltinOptions } from './tool/builtin/index.ts'
export { tool, toolOutput, type ToolDefinition, type ToolOutputOptions } from './tool/custom-tool.ts'
export type { InferSchema, JsonSchema, Schema } from './tool/infer-schema.ts'
export type { Tool, ToolContext, ToolOutput } from './tool/tool.ts'
export { mcp, type McpConnectedServer, type McpOptions } from './tool/mcp/connect-mcp.ts'
export { toolHandler, type ToolHandler } from './tool/tool-handler.ts'
export type { StandardSchema } from './tool/standard-schema.ts'
export { decodeResponse } from './wire/decode-response.ts'
export type { EncodedRequest, DecodeContext, Wire } from './wire/wire.ts'
export { loadWire, wireIds } from './wire/wires.ts'
