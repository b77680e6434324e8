export { agent, type AgentOptions, type LibraryAgent } from './agent/create.ts'
export type { Agent, Limits } from './agent/agent.ts'
export type { Ask, CallState, Outcome, Reply } from './agent/call-state.ts'
export type { Run, RunEnd } from './agent/library.ts'
export { run } from './agent/run.ts'
export type { CloseReason, RunEvent } from './agent/run-event.ts'
export type { Tracer } from './agent/tracer.ts'
export type { Host } from './host/host.ts'
export { localHost, type LocalHost, type LocalOptions } from './host/local.ts'
export type { TurnEvent, Warning } from './model/event.ts'
export type { Fault, FaultKind } from './model/fault.ts'
export { fold, runnable, startFold, type Folded, type Folder, type Rejected } from './model/fold.ts'
export type { Json, JsonObject } from './model/json.ts'
export type { Profile } from './model/profile.ts'
export type { Params, Request, ToolChoice, ToolSpec } from './model/request.ts'
export type {
  AssistantTurn,
  CallPart,
  Finish,
  MediaPart,
  Native,
  NoteTurn,
  Origin,
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
export { approvalPolicies, approvalPolicy, type ApprovalOptions } from './policy/approval.ts'
export type { Effect } from './policy/effect.ts'
export type { ApprovalMode, Decision, Grant, Policy, Proposal, Verdict } from './policy/policy.ts'
export type { Catalog, ModelCard, Price } from './provider/catalog.ts'
export type { ModelPort, Sending, Sent } from './provider/port.ts'
export { resolveModel } from './provider/resolve.ts'
export { port } from './provider/send.ts'
export { retry } from './provider/wrap/retry.ts'
export { storeConformance, type StoreCase } from './session/conformance.ts'
export type { Entry, EntryBody } from './session/entry.ts'
export { jsonlStore } from './session/store/jsonl.ts'
export { memoryStore } from './session/store/memory.ts'
export { StoreProblem, type SessionLog, type SessionSummary, type Store } from './session/store/store.ts'
export { builtinTools, type BuiltinOptions } from './tool/builtin/index.ts'
export { tool, type ToolDefinition } from './tool/custom.ts'
export type { Tool, ToolContext, ToolOutput } from './tool/define.ts'
export { toolHandler, type ToolHandler } from './tool/handler.ts'
export type { StandardSchema } from './tool/standard-schema.ts'
export { decode } from './wire/decode.ts'
export type { Encoded, Reading, Wire } from './wire/wire.ts'
export { loadWire, wireIds } from './wire/wires.ts'
