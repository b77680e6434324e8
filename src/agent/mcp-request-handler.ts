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
import type { AgentContext } from './agent-context.ts'
import type { ApprovalReply } from './calls/call-state.ts'
import { defined } from '../model/defined.ts'

interface ServerRequestContext extends Pick<AgentContext, 'requestApproval' | 'model' | 'createId'> {
  readonly openBrowser?: (url: string) => void
}

/**
 * Handles requests of MCP servers (elicitation and sampling). Each needs the approval of the user; without a user, all are
 * declined.
 */
export function createMcpRequestHandler(getContext: () => ServerRequestContext): McpRequestHandler {
  /** The answer of the user; undefined if there is no user. */
  async function ask(
    server: string,
    details: Omit<ApprovalDetails & { kind: 'info' }, 'kind'>,
    why: string,
    signal: AbortSignal,
  ): Promise<ApprovalReply | undefined> {
    const { requestApproval, createId } = getContext()
    const decision = { verdict: 'ask', rule: 'MCP server request', why } as const
    const request = { id: createId(), call: '', tool: server, details: { kind: 'info', ...details }, decision } as const
    return requestApproval?.(request, signal)
  }

  async function elicit(server: string, request: ElicitationRequest, signal: AbortSignal): Promise<ElicitationResult> {
    if ('url' in request) return elicitUrl(server, request, signal)
    const form = readFormDefaults(request.form)
    const prompt = [request.message, '', ...formatFields(request.form)].join('\n')
    const title = `The MCP server ${server} asks for input`
    const why = 'Your answer is sent to the server. Do not enter passwords.'
    const reply = await ask(server, { title, prompt, form }, why, signal)
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' }
    const content = pickFormFields(request.form, { ...form, ...(reply.outcome === 'modify' ? reply.input : {}) })
    return findMissingFields(request.form, content).length === 0 ? { action: 'accept', content } : { action: 'cancel' }
  }

  async function elicitUrl(server: string, { message, url }: { message: string; url: string }, signal: AbortSignal) {
    const { openBrowser } = getContext()
    if (!openBrowser || !/^https?:\/\//i.test(url)) return { action: 'decline' } as const
    const title = `The MCP server ${server} wants to open a URL`
    const why = 'It opens in your browser. Check whose URL it is.'
    const reply = await ask(server, { title, prompt: message, urls: [url] }, why, signal)
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' } as const
    openBrowser(url)
    return { action: 'accept' } as const
  }

  async function sample(server: string, request: SamplingRequest, signal: AbortSignal): Promise<SamplingResult> {
    const messages = request.messages.map(({ role, text }) => `${role}: ${text}`)
    const prompt = [...(request.system === undefined ? [] : [`system: ${request.system}`]), ...messages].join('\n\n')
    const title = `The MCP server ${server} wants to use the model (sampling)`
    const why = 'It costs tokens, and the response is sent to the server.'
    const reply = await ask(server, { title, prompt }, why, signal)
    if (!reply) return { refused: 'There is no user to allow it.' }
    if (reply.outcome === 'cancel')
      return { refused: `The user refused.${reply.words === undefined ? '' : ` ${reply.words}`}` }
    return sampleModel(getContext(), request, signal)
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
    turns: serverRequest.messages.map(({ role, text }): Turn => {
      const parts = [{ kind: 'text', text }] as const
      return role === 'user' ? { role, parts } : { role, parts, origin: model.origin, finish: { reason: 'stop' } }
    }),
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
