/** `dragoman/testing`: a scripted model for tests, in the same process or as a server. */
export type { JsonObject } from '../model/json.ts'
export type { Misbehaviour, MisbehaviourKind, SimpleMisbehaviourKind } from './misbehaviour/misbehaviour.ts'
export type { RecordedRequest, RehearsalFailure } from './request/recorded-request.ts'
export type { SimpleMessage } from './request/simple-messages.ts'
export type {
  RehearsalScript,
  RequestExpectation,
  RequestExtraction,
  ScriptedCall,
  ScriptLoop,
  ScriptStep,
  TextCondition,
} from './script/script.ts'
export type { ScriptInput } from './testing/assert-done.ts'
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelRequest,
} from './testing/scripted-model.ts'
export { scriptedServer, type ScriptedServer, type ScriptedServerOptions } from './testing/scripted-server.ts'
