import { defined } from '../../model/defined.ts'
import { ApiError } from '../http/api-error.ts'
import { getSessionKey, type Route } from '../http/route.ts'
import { listOf, objectOf, ref } from '../http/schemas.ts'
import { toJson } from './session-routes.ts'

export const approvalRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/sessions/{session}/approvals',
    operation: 'listApprovals',
    summary: 'The calls that wait for approval.',
    scope: 'read',
    responses: {
      200: { description: 'The open questions.', schema: objectOf({ approvals: listOf(ref('Approval')) }) },
    },
    async handle(request) {
      const approvals = await request.service.listApprovals(getSessionKey(request))
      return { status: 200, body: { approvals: approvals.map(toJson) } }
    },
  },
  {
    method: 'POST',
    path: '/v1/sessions/{session}/approvals/{approval}',
    operation: 'replyToApproval',
    summary: 'Approves or refuses a call. The first answer counts.',
    scope: 'approve',
    body: objectOf({ approved: { type: 'boolean' } }, { message: { type: 'string', maxLength: 10_000 } }),
    responses: { 202: { description: 'The answer is stored, and a worker will go on.' } },
    async handle(request) {
      const { service, params, body } = request
      const answer = defined({ approved: body['approved'] === true, message: body['message'] })
      const isFirst = await service.reply(getSessionKey(request), params['approval'] ?? '', toJson(answer))
      if (!isFirst) throw new ApiError('conflict', 'This question is not open: it was answered, or its run has ended.')
      return { status: 202 }
    },
  },
]
