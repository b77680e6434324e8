import { fold } from '../model/fold.ts'
import type { TurnEvent } from '../model/event.ts'
import { isObject, type JsonObject } from '../model/json.ts'
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

/** Whom servers' questions go to. */
export interface ServerRequestContext extends Pick<Agent, 'requestApproval' | 'model' | 'createId'> {
  /** Shows an address in the person's browser. */
  readonly openBrowser?: (url: string) => void
}

/**
 * Puts the questions of servers to the person: nothing is told to a server, and no model is asked for it, without their
 * word. Where nobody is there, everything is declined.
 */
export function createMcpRequestHandler(getContext: () => ServerRequestContext): McpRequestHandler {
  async function requestUserApproval(
    server: string,
    details: ApprovalDetails,
    why: string,
    signal: AbortSignal,
  ): Promise<ApprovalReply | undefined> {
    const { requestApproval, createId } = getContext()
    const decision = { verdict: 'ask', rule: 'question of a server', why } as const
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
    const details = { kind: 'info', title: `The server ${server} asks you`, prompt, form } as const
    const reply = await requestUserApproval(
      server,
      details,
      'What you answer goes to the server. Tell it no password.',
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
      title: `The server ${server} sends you to an address`,
      prompt: message,
      urls: [url],
    } as const
    const reply = await requestUserApproval(
      server,
      details,
      'It opens in your browser. See whose address it is.',
      signal,
    )
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' } as const
    openBrowser(url)
    return { action: 'accept' } as const
  }

  async function sample(server: string, serverRequest: SamplingRequest, signal: AbortSignal): Promise<SamplingResult> {
    const prompt = [
      ...(serverRequest.system === undefined ? [] : [`system: ${serverRequest.system}`]),
      ...serverRequest.messages.map(formatMessage),
    ].join('\n\n')
    const details = { kind: 'info', title: `The server ${server} wants the model to answer this`, prompt } as const
    const reply = await requestUserApproval(
      server,
      details,
      'You pay for it, and the answer goes to the server.',
      signal,
    )
    if (!reply) return { refused: 'Nobody is there to allow it.' }
    if (reply.outcome === 'cancel')
      return { refused: `The person refused.${reply.words === undefined ? '' : ` ${reply.words}`}` }
    return sampleModel(getContext(), serverRequest, signal)
  }

  return { elicit, sample }
}

/** Asks the model, outside of the conversation and without tools. */
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
    ...(serverRequest.maxTokens !== undefined && { params: { maxTokens: serverRequest.maxTokens } }),
  }
  const events: TurnEvent[] = []
  for await (const event of model.stream(request, { turnKey: createId(), signal })) events.push(event)
  const { parts, finish } = fold(events, model.origin).turn
  const text = joinTextParts(parts)
  if (text === '') return { refused: finish.fault?.message ?? 'The model gave no answer.' }
  return { text, model: model.origin.model, stop: finish.reason === 'length' ? 'maxTokens' : 'endTurn' }
}

function toTurn(origin: Agent['model']['origin']): (message: SamplingRequest['messages'][number]) => Turn {
  return ({ role, text }) => {
    const parts = [{ kind: 'text', text }] as const
    return role === 'user' ? { role, parts } : { role, parts, origin, finish: { reason: 'stop' } }
  }
}

function formatMessage({ role, text }: SamplingRequest['messages'][number]): string {
  return `${role}: ${text}`
}

/** The fields of a form, a line each. */
function formatFields({ properties, required }: JsonObject): string[] {
  const requiredNames = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => {
    const { title, description, type, enum: values } = isObject(field) ? field : {}
    const kind = Array.isArray(values) ? values.map(stringOrEmpty).join(' | ') : stringOrEmpty(type) || 'string'
    const about = [title, description].map(stringOrEmpty).filter(Boolean).join(', ')
    return `${name}${requiredNames.includes(name) ? '' : '?'}: ${kind}${about === '' ? '' : ` (${about})`}`
  })
}

function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Only what the form asks for is answered. */
function pickFormFields({ properties }: JsonObject, content: JsonObject): JsonObject {
  const names = Object.keys(isObject(properties) ? properties : {})
  return Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name)))
}
