import { fold } from '../model/fold.ts'
import type { TurnEvent } from '../model/event.ts'
import { isObject, type JsonObject, stringOrEmpty } from '../model/json.ts'
import { joinTextParts } from '../model/text.ts'
import type { Turn } from '../model/turn.ts'
import type { ApprovalDetails } from '../tool/tool.ts'
import {
  readFormDefaults,
  type ElicitationRequest,
  type ElicitationResult,
  findMissingFields,
  type McpRequestHandler,
  type SamplingResult,
  type SamplingRequest,
} from '../tool/mcp/connection/request-handler.ts'
import type { Agent } from './agent.ts'
import type { ApprovalReply } from './calls/call-state.ts'
import { defined } from '../model/defined.ts'

export interface ServerRequestContext extends Pick<Agent, 'requestApproval' | 'model' | 'createId'> {
  readonly openBrowser?: (url: string) => void
}

/**
 * Handles requests of MCP servers (elicitation and sampling). Each needs the approval of the user; without a user, all are
 * declined.
 */
export function createMcpRequestHandler(getContext: () => ServerRequestContext): McpRequestHandler {
  async function requestUserApproval(
    server: string,
    details: ApprovalDetails,
    why: string,
    signal: AbortSignal,
  ): Promise<ApprovalReply | undefined> {
    const { requestApproval, createId } = getContext()
    const decision = { verdict: 'ask', rule: 'MCP server request', why } as const
    return requestApproval?.({ id: createId(), call: '', tool: server, details, decision }, signal)
  }

  async function elicit(
    server: string,
    serverRequest: ElicitationRequest,
    signal: AbortSignal,
  ): Promise<ElicitationResult> {
    if ('url' in serverRequest) return elicitUrl(server, serverRequest, signal)
    const form = readFormDefaults(serverRequest.form)
    const prompt = [serverRequest.message, '', ...formatFields(serverRequest.form)].join('\n')
    const details = { kind: 'info', title: `The MCP server ${server} asks for input`, prompt, form } as const
    const reply = await requestUserApproval(
      server,
      details,
      'Your answer is sent to the server. Do not enter passwords.',
      signal,
    )
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' }
    const content = pickFormFields(serverRequest.form, { ...form, ...(reply.outcome === 'modify' ? reply.input : {}) })
    return findMissingFields(serverRequest.form, content).length === 0
      ? { action: 'accept', content }
      : { action: 'cancel' }
  }

  async function elicitUrl(server: string, { message, url }: { message: string; url: string }, signal: AbortSignal) {
    const { openBrowser } = getContext()
    if (!openBrowser || !/^https?:\/\//i.test(url)) return { action: 'decline' } as const
    const details = {
      kind: 'info',
      title: `The MCP server ${server} wants to open a URL`,
      prompt: message,
      urls: [url],
    } as const
    const reply = await requestUserApproval(server, details, 'It opens in your browser. Check whose URL it is.', signal)
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' } as const
    openBrowser(url)
    return { action: 'accept' } as const
  }

  async function sample(server: string, serverRequest: SamplingRequest, signal: AbortSignal): Promise<SamplingResult> {
    const prompt = [
      ...(serverRequest.system === undefined ? [] : [`system: ${serverRequest.system}`]),
      ...serverRequest.messages.map(({ role, text }) => `${role}: ${text}`),
    ].join('\n\n')
    const details = {
      kind: 'info',
      title: `The MCP server ${server} wants to use the model (sampling)`,
      prompt,
    } as const
    const reply = await requestUserApproval(
      server,
      details,
      'It costs tokens, and the response is sent to the server.',
      signal,
    )
    if (!reply) return { refused: 'There is no user to allow it.' }
    if (reply.outcome === 'cancel')
      return { refused: `The user refused.${reply.words === undefined ? '' : ` ${reply.words}`}` }
    return sampleModel(getContext(), serverRequest, signal)
  }

  return { elicit, sample }
}

/** Sends a request outside the conversation, without tools. */
async function sampleModel(
  { model, createId }: ServerRequestContext,
  serverRequest: SamplingRequest,
  signal: AbortSignal,
): Promise<SamplingResult> {
  const request = {
    model: model.origin.model,
    tools: [],
    turns: serverRequest.messages.map(toTurn(model.origin)),
    ...defined({ system: serverRequest.system }),
    params: defined({ maxTokens: serverRequest.maxTokens }),
  }
  const events: TurnEvent[] = []
  for await (const event of model.stream(request, { turnKey: createId(), signal })) events.push(event)
  const { parts, finish } = fold(events, model.origin).turn
  const text = joinTextParts(parts)
  if (text === '') return { refused: finish.fault?.message ?? 'The model returned no text.' }
  return { text, model: model.origin.model, stop: finish.reason === 'length' ? 'maxTokens' : 'endTurn' }
}

function toTurn(origin: Agent['model']['origin']): (message: SamplingRequest['messages'][number]) => Turn {
  return ({ role, text }) => {
    const parts = [{ kind: 'text', text }] as const
    return role === 'user' ? { role, parts } : { role, parts, origin, finish: { reason: 'stop' } }
  }
}

function formatFields({ properties, required }: JsonObject): string[] {
  const requiredNames = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => {
    const { title, description, type, enum: values } = isObject(field) ? field : {}
    const kind = Array.isArray(values) ? values.map(stringOrEmpty).join(' | ') : stringOrEmpty(type) || 'string'
    const about = [title, description].map(stringOrEmpty).filter(Boolean).join(', ')
    return `${name}${requiredNames.includes(name) ? '' : '?'}: ${kind}${about === '' ? '' : ` (${about})`}`
  })
}

/** Only fields that the form has are sent. */
function pickFormFields({ properties }: JsonObject, content: JsonObject): JsonObject {
  const names = Object.keys(isObject(properties) ? properties : {})
  return Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name)))
}
