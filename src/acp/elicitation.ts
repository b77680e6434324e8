import { isObject, type JsonObject } from '../model/json.ts'
import type { McpRequestHandler } from '../tool/mcp/connection/request-handler.ts'
import type { Connection } from './connection.ts'
import type {
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationSchema,
} from './protocol.ts'

interface ElicitationOptions {
  readonly connection: Connection
  readonly client: ClientCapabilities
  readonly sessionId: () => string
  readonly createId: () => string
}

/** Shows the questions of MCP servers in the client; undefined if it has no forms. */
export function createElicitation(options: ElicitationOptions): McpRequestHandler['elicit'] | undefined {
  const { connection, client, sessionId, createId } = options
  if (!client.elicitation?.form) return undefined
  return async (server, request, signal) => {
    const message = `The MCP server ${server} asks: ${request.message}`
    if ('url' in request && !client.elicitation?.url) return { action: 'decline' }
    const params: CreateElicitationRequest =
      'url' in request
        ? { mode: 'url', sessionId: sessionId(), message, url: request.url, elicitationId: createId() }
        : { mode: 'form', sessionId: sessionId(), message, requestedSchema: toElicitationSchema(request.form) }
    try {
      const response = await connection.request<CreateElicitationResponse>('elicitation/create', params, signal)
      if (response.action !== 'accept') return { action: response.action === 'decline' ? 'decline' : 'cancel' }
      const content = 'content' in response && isObject(response.content) ? (response.content as JsonObject) : undefined
      return { action: 'accept', ...(content && { content }) }
    } catch {
      return { action: 'cancel' }
    }
  }
}

/** Each field needs a type; a server may have left it out. */
function toElicitationSchema({ properties, required, title, description }: JsonObject): ElicitationSchema {
  const fields = Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => [
    name,
    isObject(field) && typeof field['type'] === 'string' ? field : { ...(isObject(field) && field), type: 'string' },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(fields) as NonNullable<ElicitationSchema['properties']>,
    ...(Array.isArray(required) && { required: required.filter((one) => typeof one === 'string') }),
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
}
