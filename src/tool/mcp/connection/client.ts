import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../../model/json.ts'
import { LOCAL_SERVER_ADDRESS, explainBlockedUrl } from './server-address.ts'
import type { ConnectionEvents, ConnectOptions } from './connect.ts'
import type { McpListName } from '../client/server-lists.ts'
import { formatLogMessage } from '../client/server-log.ts'
import { DECLINE_ALL_REQUESTS, parseSamplingRequest } from './request-handler.ts'
import type { Client } from './sdk.ts'

/** An SDK client that answers the requests of a server: roots, elicitation and sampling. */
export async function createMcpClient(
  name: string,
  context: ConnectOptions,
  events: ConnectionEvents,
): Promise<Client> {
  const { Client: SdkClient, CfWorkerJsonSchemaValidator, ProtocolError } = await import('./sdk.ts')
  const { requestHandler = DECLINE_ALL_REQUESTS, folders } = context
  const changed = (list: McpListName) => ({
    autoRefresh: false,
    debounceMs: 300,
    onChanged: () => events.onListChanged(list),
  })
  const client = new SdkClient(
    { name: 'dragoman', version: '1' },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(MAX_PROBE_MS, context.timeoutMs / 2) } },
      capabilities: {
        roots: { listChanged: false },
        sampling: {},
        elicitation: { form: { applyDefaults: true }, url: {} },
      },
      jsonSchemaValidator: new CfWorkerJsonSchemaValidator(),
      listChanged: { tools: changed('tools'), prompts: changed('prompts'), resources: changed('resources') },
    },
  )
  client.setRequestHandler('roots/list', () => ({
    roots: folders.map((folder) => ({ uri: pathToFileURL(folder).href, name: folder.split('/').at(-1) ?? folder })),
  }))
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    const { message } = params
    if ('url' in params) {
      const why = await explainBlockedUrl(params.url, context.address ?? LOCAL_SERVER_ADDRESS)
      if (why !== undefined) {
        events.onLog(`The server asked for a URL that is not opened: ${params.url.slice(0, 200)}. ${why}`)
        return { action: 'decline' }
      }
    }
    const elicitation =
      'url' in params
        ? { message, url: params.url, id: params.elicitationId }
        : { message, form: params.requestedSchema as JsonObject }
    const answer = await requestHandler.elicit(name, elicitation, mcpReq.signal)
    return answer as { action: 'accept'; content?: Record<string, string> }
  })
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    const answer = await requestHandler.sample(name, parseSamplingRequest(params as JsonObject), mcpReq.signal)
    if ('refused' in answer) throw new ProtocolError(USER_REJECTED_CODE, answer.refused)
    const { text, model, stop } = answer
    return { model, role: 'assistant' as const, stopReason: stop, content: { type: 'text' as const, text } }
  })
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => {
    requestHandler.onElicitationComplete?.(name, params.elicitationId)
  })
  client.setNotificationHandler('notifications/message', ({ params }) => {
    events.onLog(formatLogMessage(params))
  })
  return client
}

/** A server of the newer protocol answers at once; a silent one has the older. */
const MAX_PROBE_MS = 10_000
const USER_REJECTED_CODE = -1
