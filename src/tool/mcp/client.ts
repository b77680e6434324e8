import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../model/json.ts'
import { THIS_MACHINE, whyNotOpened } from './address.ts'
import type { Hearing, Surroundings } from './connect.ts'
import type { ListName } from './lists.ts'
import { logLine } from './log.ts'
import { NOBODY, samplingOf } from './questions.ts'
import type { Client } from './sdk.ts'

/** A client of the SDK that answers what a server may ask: where it works, and what person and model say. */
export async function clientFor(name: string, around: Surroundings, hearing: Hearing): Promise<Client> {
  const { Client: SdkClient, CfWorkerJsonSchemaValidator, ProtocolError } = await import('./sdk.ts')
  const { questions = NOBODY, folders } = around
  const changed = (list: ListName) => ({ autoRefresh: false, debounceMs: 300, onChanged: () => hearing.changed(list) })
  const client = new SdkClient(
    { name: 'dragoman', version: '1' },
    {
      versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(PROBE, around.patience / 2) } },
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
      const why = await whyNotOpened(params.url, around.address ?? THIS_MACHINE)
      if (why !== undefined) {
        hearing.logged(`It wants to open an address that is not opened: ${params.url.slice(0, 200)}. ${why}`)
        return { action: 'decline' }
      }
    }
    const wish =
      'url' in params ? { message, url: params.url } : { message, form: params.requestedSchema as JsonObject }
    const answer = await questions.elicit(name, wish, mcpReq.signal)
    return answer as { action: 'accept'; content?: Record<string, string> }
  })
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    const answer = await questions.sample(name, samplingOf(params as JsonObject), mcpReq.signal)
    if ('refused' in answer) throw new ProtocolError(REFUSED, answer.refused)
    const { text, model, stop } = answer
    return { model, role: 'assistant' as const, stopReason: stop, content: { type: 'text' as const, text } }
  })
  client.setNotificationHandler('notifications/message', ({ params }) => {
    hearing.logged(logLine(params))
  })
  return client
}

/** A server of the newer kind answers at once; one that is silent is of the older. */
const PROBE = 10_000
/** What the protocol says when the person does not want it. */
const REFUSED = -1
