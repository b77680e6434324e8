import type { ApprovalReply, ApprovalRequest } from '../agent/calls/call-state.ts'
import type { CallPart } from '../model/turn.ts'
import { sanitizeText } from '../policy/text/sanitize.ts'
import type { Toolbox } from '../tool/toolbox.ts'
import { listPermissionChoices, readPermissionAnswer, toPermissionCall } from './permission.ts'
import type {
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from './protocol.ts'
import { readFormAnswer, toQuestionForm } from './question-form.ts'
import type { ToolCallView } from './tool-call-view.ts'

interface AnswerContext {
  readonly sessionId: string
  readonly client: ClientCapabilities
  readonly toolbox: Toolbox
  readonly call: CallPart | undefined
  readonly view: ToolCallView | undefined
  readonly request: <Response>(method: string, params: object) => Promise<Response>
}

/** Asks the user: a question of the model as a form, if the client has forms; everything else as a permission. */
export async function requestAnswer(
  ask: ApprovalRequest,
  { sessionId, client, toolbox, call, view, request }: AnswerContext,
): Promise<Omit<ApprovalReply, 'ask'> | 'cancelled' | undefined> {
  if (ask.details.kind === 'question' && client.elicitation?.form) {
    const form: CreateElicitationRequest = {
      mode: 'form',
      sessionId,
      toolCallId: ask.call,
      message: sanitizeText(ask.details.question, 'approval-prompt'),
      requestedSchema: toQuestionForm(ask.details),
    }
    return readFormAnswer(await request<CreateElicitationResponse>('elicitation/create', form))
  }
  const params: RequestPermissionRequest = {
    sessionId,
    toolCall: toPermissionCall(ask, view),
    options: listPermissionChoices(ask).map(({ option }) => option),
  }
  const response = await request<RequestPermissionResponse>('session/request_permission', params)
  return readPermissionAnswer(ask, response, toolbox, call?.input)
}
