import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Json, tryParseJson } from '../../src/model/json.ts'
import { handleRehearsalRequest, type RehearsalState } from '../../src/rehearsal/handle-request.ts'
import { flattenHeaders } from '../../src/rehearsal/request/recorded-request.ts'
import { sendResponse } from '../../src/rehearsal/response/send-response.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { createRehearsalState } from '../../src/rehearsal/server.ts'

/** A request of a client, as it came. */
export interface CapturedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The status of the response. */
  readonly status: number
  /** Text if it is not JSON. */
  readonly body: Json
}

export interface CaptureServer {
  readonly url: string
  readonly requests: readonly CapturedRequest[]
  close(): void
}

/** A scripted model on loopback that answers `step` and then `end`, and keeps every request. */
export async function startCaptureServer(step: ScriptStep, end: ScriptStep, cwd: string): Promise<CaptureServer> {
  const script = { steps: [step], end }
  const state = await createRehearsalState({
    scripts: { client: script },
    fallbackScript: 'client',
    templateValues: { cwd },
  })
  const requests: CapturedRequest[] = []
  const server = createServer((request, response) => {
    answer(state, request, response, requests).catch(() => response.destroy())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, requests, close }
}

async function answer(
  state: RehearsalState,
  request: IncomingMessage,
  response: ServerResponse,
  requests: CapturedRequest[],
): Promise<void> {
  response.on('error', () => undefined)
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const plan = handleRehearsalRequest(state, request, chunks)
  requests.push({
    method: request.method ?? '',
    path: request.url ?? '',
    headers: flattenHeaders(request.headers),
    status: plan.status,
    body: (tryParseJson(text) as Json | undefined) ?? text,
  })
  await sendResponse(response, plan)
}
