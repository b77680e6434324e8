import type { Json } from '../../model/json.ts'
import type { Schedule } from '../backend.ts'
import { parseCron } from '../cron.ts'
import { ApiError } from '../http/api-error.ts'
import type { Route } from '../http/route.ts'
import { INPUT, listOf, objectOf, ref, SESSION_ID } from '../http/schemas.ts'
import { toParts } from './prompt-routes.ts'
import { toJson } from './session-routes.ts'

const DEFAULT_SCHEDULES = 100

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

export const scheduleRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/schedules',
    operation: 'listSchedules',
    summary: 'The schedules.',
    scope: 'read',
    responses: { 200: { description: 'All of them.', schema: objectOf({ schedules: listOf(ref('Schedule')) }) } },
    async handle({ tenant, service }) {
      const schedules = await service.listSchedules(tenant)
      return { status: 200, body: { schedules: schedules.map((one) => toJson(describeSchedule(one))) } }
    },
  },
  {
    method: 'PUT',
    path: '/v1/schedules/{name}',
    operation: 'setSchedule',
    summary:
      'Adds a prompt to a session at the times of a cron expression, in UTC. Replaces the schedule of this name.',
    scope: 'prompt',
    body: objectOf({ session: SESSION_ID, cron: { type: 'string', maxLength: 200 }, input: INPUT }),
    responses: { 200: { description: 'The schedule.', schema: ref('Schedule') } },
    async handle({ tenant, config, params, body, service, limits }) {
      const name = params['name'] ?? ''
      if (!NAME_PATTERN.test(name))
        throw new ApiError('invalid-request', 'The name of a schedule has letters, digits, - and _.')
      const { cron, session, input } = body as { cron: string; session: string; input: Json }
      const times = parseCron(cron)
      if ('problem' in times) throw new ApiError('invalid-request', `The schedule is not valid: ${times.problem}.`)
      return limits.takeTurn(tenant, async () => {
        const { schedules, promptsPerMinute = DEFAULT_SCHEDULES } = config.limits ?? {}
        // Each of them adds a prompt a minute at most.
        const max = schedules ?? Math.min(DEFAULT_SCHEDULES, promptsPerMinute)
        const others = (await service.listSchedules(tenant)).filter(({ id }) => id !== `${tenant}/${name}`)
        if (others.length >= max) throw new ApiError('limit-exceeded', `There are ${max} schedules already.`)
        const key = { tenant, session }
        const schedule = await service.setSchedule(key, name, cron, toParts(input))
        return { status: 200, body: toJson(describeSchedule(schedule)) }
      })
    },
  },
  {
    method: 'DELETE',
    path: '/v1/schedules/{name}',
    operation: 'removeSchedule',
    summary: 'Removes a schedule.',
    scope: 'prompt',
    responses: { 204: { description: 'It is gone.' } },
    async handle({ tenant, params, service }) {
      const name = params['name'] ?? ''
      const exists = (await service.listSchedules(tenant)).some(({ id }) => id === `${tenant}/${name}`)
      if (!exists) throw new ApiError('not-found', 'There is no such schedule.')
      await service.removeSchedule(tenant, name)
      return { status: 204 }
    },
  },
]

function describeSchedule({ id, tenant, session, cron, message }: Schedule): object {
  return { name: id.slice(tenant.length + 1), session, cron, input: message.kind === 'user' ? message.parts : [] }
}
