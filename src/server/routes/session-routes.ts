import { defined } from '../../model/defined.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { deriveModelHistory } from '../../session/derive-model-history.ts'
import { ApiError } from '../http/api-error.ts'
import { type ApiRequest, getSessionKey, type Route } from '../http/route.ts'
import { listOf, objectOf, ref, SESSION_ID, SETTINGS } from '../http/schemas.ts'
import type { SessionSettings } from '../session-settings.ts'
import { parseCursor, toCursor } from './cursor.ts'

export interface SessionRouteOptions {
  /** The names of the agents; sessions that name none get the first one. */
  readonly agents: readonly string[]
  /** Why a tenant may not use these settings, if that is so. */
  readonly findSettingsProblem: (settings: SessionSettings, request: ApiRequest) => string | undefined
  /** Removes what a session has on this machine beside its log. */
  readonly onRemove?: (tenant: string, session: string) => Promise<void>
}

export function createSessionRoutes({ agents, findSettingsProblem, onRemove }: SessionRouteOptions): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/sessions',
      operation: 'createSession',
      summary: 'Creates a session.',
      scope: 'prompt',
      body: objectOf({}, { id: SESSION_ID, ...SETTINGS }),
      responses: { 201: { description: 'The session was created.', schema: ref('Session') } },
      async handle(request) {
        const { tenant, body, service } = request
        const { id = service.createId(), ...given } = body as { id?: string } & SessionSettings
        const settings: SessionSettings = { ...defined({ agent: agents[0] }), ...given }
        if (settings.agent !== undefined && !agents.includes(settings.agent))
          throw new ApiError('invalid-request', `There is no agent “${settings.agent}”.`)
        const problem = findSettingsProblem(settings, request)
        if (problem !== undefined) throw new ApiError('forbidden', problem)
        const info = await withinSessionLimit(request, () => service.create({ tenant, session: id }, settings))
        return { status: 201, body: toJson(info), headers: { location: `/v1/sessions/${id}` } }
      },
    },
    {
      method: 'GET',
      path: '/v1/sessions',
      operation: 'listSessions',
      summary: 'Lists the sessions, those first that were created last.',
      scope: 'read',
      query: {
        limit: { description: 'How many, at most; default 50.', schema: { type: 'integer', minimum: 1, maximum: 500 } },
        before: { description: 'The `next` of the page before.', schema: { type: 'string', maxLength: 200 } },
      },
      responses: {
        200: {
          description: 'A page of the list; `next` is absent in the last one.',
          schema: objectOf({ sessions: listOf(ref('SessionSummary')) }, { next: { type: 'string' } }),
        },
      },
      async handle({ tenant, query, service }) {
        const limit = Number(query.get('limit') ?? 50)
        const before = parseCursor(query.get('before'))
        const sessions = await service.list(tenant, { limit: limit + 1, ...defined({ before }) })
        const page = sessions.slice(0, limit)
        const last = page.at(-1)
        return {
          status: 200,
          body: {
            sessions: page.map(({ id, created, changed, title, prompts, model, unfinished, parent }) =>
              toJson(defined({ id, created, changed, title, prompts, model, unfinished, parent })),
            ),
            ...(sessions.length > limit && last && { next: toCursor(last) }),
          },
        }
      },
    },
    {
      method: 'GET',
      path: '/v1/sessions/{session}',
      operation: 'getSession',
      summary: 'The state of a session, and what it runs with.',
      scope: 'read',
      responses: { 200: { description: 'The session.', schema: ref('Session') } },
      handle: async (request) => ({ status: 200, body: toJson(await request.service.get(getSessionKey(request))) }),
    },
    {
      method: 'DELETE',
      path: '/v1/sessions/{session}',
      operation: 'deleteSession',
      summary: 'Removes a session with its schedules and its workspace, unless it is running or was forked.',
      scope: 'prompt',
      responses: { 204: { description: 'The session is gone.' } },
      async handle(request) {
        const key = getSessionKey(request)
        await request.service.remove(key)
        await onRemove?.(key.tenant, key.session)
        return { status: 204 }
      },
    },
    {
      method: 'POST',
      path: '/v1/sessions/{session}/fork',
      operation: 'forkSession',
      summary: 'Creates a session with the entries of this one up to `at`. Its workspace is checked out again.',
      scope: 'prompt',
      body: objectOf({}, { id: SESSION_ID, at: { type: 'integer', minimum: 1 } }),
      responses: { 201: { description: 'The new session.', schema: ref('Session') } },
      async handle(request) {
        const { service, body } = request
        const id = typeof body['id'] === 'string' ? body['id'] : service.createId()
        const at = typeof body['at'] === 'number' ? body['at'] : undefined
        const info = await withinSessionLimit(request, () => service.fork(getSessionKey(request), id, at))
        return { status: 201, body: toJson(info), headers: { location: `/v1/sessions/${id}` } }
      },
    },
    {
      method: 'GET',
      path: '/v1/sessions/{session}/history',
      operation: 'getHistory',
      summary: 'The conversation as the model gets it.',
      scope: 'read',
      responses: {
        200: {
          description: 'The turns.',
          schema: objectOf({
            turns: listOf({ type: 'object', properties: { role: { type: 'string' } }, required: ['role'] }),
          }),
        },
      },
      async handle(request) {
        const { entries } = await request.service.read(getSessionKey(request))
        return { status: 200, body: { turns: deriveModelHistory(entries).map(toJson) } }
      },
    },
  ]
}

/** The count and the creation are one step, so that requests at the same time do not exceed the limit. */
async function withinSessionLimit<T>(
  { tenant, config, service, limits }: ApiRequest,
  create: () => Promise<T>,
): Promise<T> {
  const max = config.limits?.sessions
  if (max === undefined) return create()
  return limits.takeTurn(tenant, async () => {
    const { length } = await service.list(tenant, { limit: max })
    if (length >= max) throw new ApiError('limit-exceeded', `There are ${max} sessions already, which is the limit.`)
    return create()
  })
}

export function toJson(value: object): JsonObject & Json {
  return JSON.parse(JSON.stringify(value)) as JsonObject
}
