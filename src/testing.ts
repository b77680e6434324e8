/** `dragoman/testing`: a scripted model for tests, in the same process or as a server. */
export type { Misbehaviour, MisbehaviourKind, SimpleMisbehaviourKind } from './rehearsal/misbehaviour/misbehaviour.ts'
export type { RecordedRequest, RehearsalFailure } from './rehearsal/request/recorded-request.ts'
export type { SimpleMessage } from './rehearsal/request/simple-messages.ts'
export type {
  RehearsalScript,
  RequestExpectation,
  RequestExtraction,
  ScriptedCall,
  ScriptLoop,
  ScriptStep,
  TextCondition,
} from './rehearsal/script/script.ts'
export type { ScriptInput } from './rehearsal/testing/assert-done.ts'
export {
  scriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedModelRequest,
} from './rehearsal/testing/scripted-model.ts'
export { scriptedServer, type ScriptedServer, type ScriptedServerOptions } from './rehearsal/testing/scripted-server.ts'
export type { PlainConversation } from './wire/plain-conversation/plain-conversation.ts'
