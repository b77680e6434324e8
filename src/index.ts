export { agent, type AgentOptions, type LibraryAgent } from './agent/create-agent.ts'
export type { Agent, RunLimits } from './agent/agent.ts'
export type { ApprovalOutcome, ApprovalReply, ApprovalRequest, CallState } from './agent/calls/call-state.ts'
export type { RunHandle, RunResult } from './agent/loop/run-handle.ts'
export { run } from './agent/loop/run.ts'
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
export type { ModelParams, ModelRequest, ToolChoice, ToolSpec } from './model/request.ts'
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
  type Model,
  type RequestOptions,
  type SentRequest,
  resolveModel,
  createModel,
  withRetry,
} from './provider/index.ts'
export { storeConformance, type StoreCase, type StoreSetup } from './session/store/conformance.ts'
export type { Entry, EntryBody, ForkPoint } from './session/log/entry.ts'
export type { LogDamage } from './session/log/scan-log.ts'
export { jsonlStore } from './session/store/jsonl-store.ts'
export { memoryStore } from './session/store/memory-store.ts'
export type { PostgresClient, PostgresRow, PostgresValue } from './session/store/postgres-client.ts'
export { migratePostgresStore } from './session/store/postgres-schema.ts'
export { postgresStore, type PostgresStoreOptions } from './session/store/postgres-store.ts'
export {
  StoreError,
  type SessionContents,
  type SessionLog,
  type SessionSummary,
  type Store,
  type StoreErrorCode,
} from './session/store/store.ts'
export { builtinTools, type BuiltinOptions } from './tool/builtin/index.ts'
export { tool, type ToolDefinition } from './tool/custom-tool.ts'
export type { Tool, ToolContext, ToolOutput } from './tool/tool.ts'
export { toolHandler, type ToolHandler } from './tool/tool-handler.ts'
export type { StandardSchema } from './tool/standard-schema.ts'
export { decodeResponse } from './wire/decode-response.ts'
export type { EncodedRequest, DecodeContext, Wire } from './wire/wire.ts'
export { loadWire, wireIds } from './wire/wires.ts'
