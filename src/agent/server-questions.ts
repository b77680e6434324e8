import { fold } from '../model/fold.ts'
import type { TurnEvent } from '../model/event.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { textOf } from '../model/text.ts'
import type { Turn } from '../model/turn.ts'
import type { AskDetails } from '../tool/define.ts'
import {
  defaultsOf,
  type Elicitation,
  type Elicited,
  missingIn,
  type Questions,
  type Sampled,
  type Sampling,
} from '../tool/mcp/questions.ts'
import type { Agent } from './agent.ts'
import type { Reply } from './call-state.ts'

/** Whom servers' questions go to. */
export interface Asked extends Pick<Agent, 'ask' | 'model' | 'mint'> {
  /** Shows an address in the person's browser. */
  readonly show?: (url: string) => void
}

/**
 * Puts the questions of servers to the person: nothing is told to a server, and no model is asked for it, without their
 * word. Where nobody is there, everything is declined.
 */
export function serverQuestions(asked: () => Asked): Questions {
  async function put(
    server: string,
    details: AskDetails,
    why: string,
    signal: AbortSignal,
  ): Promise<Reply | undefined> {
    const { ask, mint } = asked()
    const decision = { verdict: 'ask', rule: 'question of a server', why } as const
    return ask?.({ id: mint(), call: '', tool: server, details, decision }, signal)
  }

  async function elicit(server: string, wish: Elicitation, signal: AbortSignal): Promise<Elicited> {
    if ('url' in wish) return visit(server, wish, signal)
    const form = defaultsOf(wish.form)
    const prompt = [wish.message, '', ...fieldsOf(wish.form)].join('\n')
    const details = { kind: 'info', title: `The server ${server} asks you`, prompt, form } as const
    const reply = await put(server, details, 'What you answer goes to the server. Tell it no password.', signal)
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' }
    const content = known(wish.form, { ...form, ...(reply.outcome === 'modify' ? reply.input : {}) })
    return missingIn(wish.form, content).length === 0 ? { action: 'accept', content } : { action: 'cancel' }
  }

  async function visit(server: string, { message, url }: { message: string; url: string }, signal: AbortSignal) {
    const { show } = asked()
    if (!show || !/^https?:\/\//i.test(url)) return { action: 'decline' } as const
    const details = {
      kind: 'info',
      title: `The server ${server} sends you to an address`,
      prompt: message,
      urls: [url],
    } as const
    const reply = await put(server, details, 'It opens in your browser. See whose address it is.', signal)
    if (!reply || reply.outcome === 'cancel') return { action: 'decline' } as const
    show(url)
    return { action: 'accept' } as const
  }

  async function sample(server: string, wish: Sampling, signal: AbortSignal): Promise<Sampled> {
    const prompt = [
      ...(wish.system === undefined ? [] : [`system: ${wish.system}`]),
      ...wish.messages.map(spoken),
    ].join('\n\n')
    const details = { kind: 'info', title: `The server ${server} wants the model to answer this`, prompt } as const
    const reply = await put(server, details, 'You pay for it, and the answer goes to the server.', signal)
    if (!reply) return { refused: 'Nobody is there to allow it.' }
    if (reply.outcome === 'cancel')
      return { refused: `The person refused.${reply.words === undefined ? '' : ` ${reply.words}`}` }
    return answered(asked(), wish, signal)
  }

  return { elicit, sample }
}

/** Asks the model, outside of the conversation and without tools. */
async function answered({ model, mint }: Asked, wish: Sampling, signal: AbortSignal): Promise<Sampled> {
  const request = {
    model: model.origin.model,
    tools: [],
    turns: wish.messages.map(turnOf(model.origin)),
    ...(wish.system !== undefined && { system: wish.system }),
    ...(wish.maxTokens !== undefined && { params: { maxTokens: wish.maxTokens } }),
  }
  const events: TurnEvent[] = []
  for await (const event of model.ask(request, { key: mint(), signal })) events.push(event)
  const { parts, finish } = fold(events, model.origin).turn
  const text = textOf(parts)
  if (text === '') return { refused: finish.fault?.message ?? 'The model gave no answer.' }
  return { text, model: model.origin.model, stop: finish.reason === 'length' ? 'maxTokens' : 'endTurn' }
}

function turnOf(origin: Agent['model']['origin']): (message: Sampling['messages'][number]) => Turn {
  return ({ role, text }) => {
    const parts = [{ kind: 'text', text }] as const
    return role === 'user' ? { role, parts } : { role, parts, origin, finish: { reason: 'stop' } }
  }
}

function spoken({ role, text }: Sampling['messages'][number]): string {
  return `${role}: ${text}`
}

/** The fields of a form, a line each. */
function fieldsOf({ properties, required }: JsonObject): string[] {
  const wanted = Array.isArray(required) ? required : []
  return Object.entries(isObject(properties) ? properties : {}).map(([name, field]) => {
    const { title, description, type, enum: values } = isObject(field) ? field : {}
    const kind = Array.isArray(values) ? values.map(word).join(' | ') : word(type) || 'string'
    const about = [title, description].map(word).filter(Boolean).join(', ')
    return `${name}${wanted.includes(name) ? '' : '?'}: ${kind}${about === '' ? '' : ` (${about})`}`
  })
}

function word(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Only what the form asks for is answered. */
function known({ properties }: JsonObject, content: JsonObject): JsonObject {
  const names = Object.keys(isObject(properties) ? properties : {})
  return Object.fromEntries(Object.entries(content).filter(([name]) => names.includes(name)))
}
