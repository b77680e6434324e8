import { randomUUID } from 'node:crypto'
import { lazy } from '../../model/lazy.ts'
import type { JsonObject } from '../../model/json.ts'
import { NO_USAGE } from '../../model/usage.ts'
import { ApiError } from '../http/api-error.ts'
import { type ApiRequest, getSessionKey, type ParameterSpec, type Route } from '../http/route.ts'
import { INPUT, objectOf, ref } from '../http/schemas.ts'
import { findPromptResult, type PromptResult } from '../prompt-result.ts'
import { toJson } from './session-routes.ts'

const IDEMPOTENCY_KEY: Readonly<Record<string, ParameterSpec>> = {
  'Idempotency-Key': {
    description: 'A request that is repeated with the same key has no further effect.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
  },
}

const loadCatalog = lazy(async () => (await import('../../provider/catalog.ts')).createCatalog())

export const promptRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/sessions/{session}/prompts',
    operation: 'prompt',
    summary:
      'Adds a prompt. Prompts of a session run one after the other. With `steer`, a run in progress gets it with its next request.',
    scope: 'prompt',
    headers: IDEMPOTENCY_KEY,
    body: objectOf({ input: INPUT }, { steer: { type: 'boolean' } }),
    responses: {
      202: {
        description: 'The prompt is stored, and will run. `after` is the number of the last entry before it.',
        schema: ref('Accepted'),
      },
    },
    async handle(request) {
      const { service, body, limits, tenant, config } = request
      const key = getSessionKey(request)
      limits.countPrompt(tenant, config.limits ?? {})
      const input = { parts: toParts(body['input']), steer: body['steer'] === true, key: getIdempotencyKey(request) }
      return withInboxRoom(request, async () => ({ status: 202, body: toJson(await service.prompt(key, input)) }))
    },
  },
  {
    method: 'GET',
    path: '/v1/sessions/{session}/prompts/{message}',
    operation: 'getPrompt',
    summary: 'How far the work on a prompt is, and what came of it.',
    scope: 'read',
    responses: { 200: { description: 'The prompt.', schema: ref('PromptResult') } },
    async handle(request) {
      const { service, params } = request
      const key = getSessionKey(request)
      const message = params['message'] ?? ''
      // In this order: a message is in the log before it leaves the inbox.
      const isQueued = (await service.backend.inbox.list(key)).some(({ id }) => id === message)
      const { cost } = await loadCatalog()
      const result = findPromptResult(await service.read(key), message, cost)
      if (!result && !isQueued) throw new ApiError('not-found', 'There is no such prompt.')
      const queued: PromptResult = { state: 'queued', text: '', turns: 0, usage: NO_USAGE }
      return { status: 200, body: toJson(result ?? queued) }
    },
  },
  {
    method: 'POST',
    path: '/v1/sessions/{session}/cancel',
    operation: 'cancel',
    summary: 'Stops the run in progress, and the prompts that wait behind it.',
    scope: 'prompt',
    headers: IDEMPOTENCY_KEY,
    responses: { 202: { description: 'It will stop.' } },
    async handle(request) {
      const key = getSessionKey(request)
      const requestKey = getIdempotencyKey(request)
      // There is nothing to stop, and so nothing to store.
      if ((await request.service.get(key)).state === 'idle') return { status: 202 }
      return withInboxRoom(request, async () => {
        await request.service.cancel(key, requestKey)
        return { status: 202 }
      })
    },
  },
  {
    method: 'POST',
    path: '/v1/sessions/{session}/resume',
    operation: 'resume',
    summary: 'Lets a worker look at the session, if its last run was interrupted elsewhere.',
    scope: 'prompt',
    headers: IDEMPOTENCY_KEY,
    responses: {
      202: {
        description:
          'A worker will look at it. `after` is the number of the last entry, `prompt` the message of the open prompt.',
        schema: objectOf({ after: { type: 'integer' } }, { prompt: { type: 'string' } }),
      },
    },
    async handle(request) {
      const { service, limits, tenant, config } = request
      limits.countPrompt(tenant, config.limits ?? {})
      return { status: 202, body: toJson(await service.resume(getSessionKey(request), getIdempotencyKey(request))) }
    },
  },
]

export function toParts(input: unknown): readonly JsonObject[] {
  return typeof input === 'string' ? [{ kind: 'text', text: input }] : (input as JsonObject[])
}

/** A client that only adds messages must not fill the disk; also not with many requests at the same time. */
async function withInboxRoom<T>(request: ApiRequest, work: () => Promise<T>): Promise<T> {
  const key = getSessionKey(request)
  return request.limits.takeTurn(`${key.tenant}/${key.session}`, async () => {
    const { length } = await request.service.backend.inbox.list(key)
    if (length >= MAX_WAITING)
      throw new ApiError('limit-exceeded', `${MAX_WAITING} messages wait for this session already.`)
    return work()
  })
}

const MAX_WAITING = 100

function getIdempotencyKey({ headers }: ApiRequest): string {
  const key = headers['idempotency-key']
  if (key === undefined) return randomUUID()
  if (typeof key === 'string' && /^[A-Za-z0-9._:-]{1,128}$/.test(key)) return key
  throw new ApiError('invalid-request', 'The header Idempotency-Key takes 1 to 128 letters, digits and . _ : -')
}
