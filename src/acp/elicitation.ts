import { isObject, type JsonObject } from '../model/json.ts'
import type { ElicitationView } from '../tool/mcp/connection/request-handler.ts'
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

/** Shows the questions of MCP servers in the client, as far as it has forms and opens URLs. */
export function createElicitationView(options: ElicitationOptions): ElicitationView | undefined {
  const { connection, client, sessionId, createId } = options
  const { form: hasForms, url: opensUrls } = client.elicitation ?? {}
  if (!hasForms && !opensUrls) return undefined
  /** The ids of two servers may be the same, so the client gets other ones. */
  const urlIds = new Map<string, string>()
  const toKey = (server: string, id: string): string => JSON.stringify([server, id])

  const elicit: ElicitationView['elicit'] = async (server, request, signal) => {
    if (!('url' in request ? opensUrls : hasForms)) return undefined
    const message = `The MCP server ${server} asks: ${request.message}`
    const scope = { sessionId: sessionId(), message }
    let params: CreateElicitationRequest
    if ('url' in request) {
      const elicitationId = createId()
      urlIds.set(toKey(server, request.id), elicitationId)
      params = { ...scope, mode: 'url', url: request.url, elicitationId }
    } else params = { ...scope, mode: 'form', requestedSchema: toElicitationSchema(request.form) }
    try {
      const response = await connection.request<CreateElicitationResponse>('elicitation/create', params, signal)
      if (response.action !== 'accept') return { action: response.action === 'decline' ? 'decline' : 'cancel' }
      const content = 'content' in response && isObject(response.content) ? (response.content as JsonObject) : undefined
      return { action: 'accept', ...(content && { content }) }
    } catch {
      return { action: 'cancel' }
    }
  }

  return {
    elicit,
    onComplete(server, id) {
      const elicitationId = urlIds.get(toKey(server, id))
      if (elicitationId === undefined) return
      urlIds.delete(toKey(server, id))
      connection.notify('elicitation/complete', { elicitationId })
    },
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
