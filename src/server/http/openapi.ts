import type { JsonObject } from '../../model/json.ts'
import { needsBody, type Route } from './route.ts'
import { COMPONENTS, ref, SESSION_ID } from './schemas.ts'

/** The OpenAPI document of these routes. */
export function createOpenApi(routes: readonly Route[], version: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const route of routes)
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Dragoman',
      version,
      description: 'Sessions of agents over HTTP. Events are streamed as server-sent events.',
    },
    paths,
    components: {
      schemas: COMPONENTS,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function describeRoute(route: Route): JsonObject {
  const { operation, summary, scope, query = {}, headers = {}, body, responses } = route
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'session' ? SESSION_ID : { type: 'string' },
  }))
  const listParameters = (place: string, specs: NonNullable<Route['query']>): JsonObject[] =>
    Object.entries(specs).map(([name, { description, schema }]) => ({ name, in: place, description, schema }))
  return {
    operationId: operation,
    summary,
    ...(scope && { description: `Needs a token with the scope \`${scope}\`.`, security: [{ token: [] }] }),
    parameters: [...inPath, ...listParameters('query', query), ...listParameters('header', headers)],
    ...(body && { requestBody: { required: needsBody(route), content: { 'application/json': { schema: body } } } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(responses).map(([status, { description, schema, type = 'application/json' }]) => [
          status,
          {
            description,
            ...((schema || type !== 'application/json') && { content: { [type]: schema ? { schema } : {} } }),
          },
        ]),
      ),
      default: { description: 'The request was refused.', content: { 'application/json': { schema: ref('Error') } } },
    },
  }
}
