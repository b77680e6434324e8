import type { JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { resultMedia, resultText, wellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ReasoningPart, ResultPart, TextPart } from '../../model/turn.ts'
import type { Projection } from '../../schema/project.ts'
import { callAsText, resultAsText } from '../text-tools.ts'
import { callInput, callText, isOwn, ownData, type Step } from '../transcript.ts'

/** A message as the API takes it: a role and a list of blocks. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

interface Context {
  readonly profile: Profile
  readonly projection: Projection
}

type AssistantStep = Step & { kind: 'assistant' }

/** Writes the history. Whatever the user's side has to say in a row becomes one message, with the results in front (T91). */
export function messagesOf(steps: readonly Step[], context: Context): Message[] {
  const messages: Message[] = []
  const answered = serverPairs(steps, context.profile)
  const say = (content: JsonObject[]): void => {
    const last = messages.at(-1)
    if (last?.role === 'user') last.content.push(...content)
    else if (content.length > 0) messages.push({ role: 'user', content })
  }
  for (const step of steps) {
    if (step.kind === 'user') say(step.parts.map((part) => said(part, context.profile)))
    else if (context.profile.tools === 'text') {
      const content = asText(step, context)
      if (content.length > 0) messages.push({ role: 'assistant', content })
      say(
        step.exchanges.flatMap(({ call, result }) => [
          text(resultAsText(context.projection.wireName(call.name), resultText(result), result.status)),
          ...resultMedia(result).map((part) => said(part, context.profile)),
        ]),
      )
    } else {
      const content = assistant(step, answered, context)
      if (content.length > 0) messages.push({ role: 'assistant', content })
      const results = step.exchanges.map(({ id, result }) => toolResult(id, result, context.profile))
      say([...results.map(({ block }) => block), ...results.flatMap(({ beside }) => beside)])
    }
  }
  return messages
}

function text(content: string): JsonObject {
  return { type: 'text', text: wellFormed(content) }
}

/** A model without native calls reads its own calls as text, in the form in which it is asked to write them. */
function asText(step: AssistantStep, { projection }: Context): JsonObject[] {
  const calls = step.exchanges.map(({ call }) => callAsText(projection.wireName(call.name), callText(call, projection)))
  const texts = step.parts.flatMap((part) => {
    if (part.kind === 'media') return [`(${named(part)} was shown here)`]
    return part.kind === 'text' ? [part.text] : []
  })
  return [...texts, ...calls].filter((one) => one.trim() !== '').map(text)
}

/** The blocks of an answer. Thinking is signed together with its siblings: if one of these has to go, the thinking goes too (T80). */
function assistant(step: AssistantStep, answered: ReadonlySet<JsonObject>, context: Context): JsonObject[] {
  const blocks: JsonObject[] = []
  const sent = new Set(step.parts)
  const ids = new Map(step.exchanges.map(({ call, id }) => [call, id]))
  let intact = step.turn.parts.every((part) => part.kind !== 'call' || sent.has(part))
  for (const part of step.parts) {
    const block = assistantBlock(part, ids, answered, context)
    if (block) blocks.push(block)
    if (!block || (part.kind === 'call' && !isFaithful(part, block))) intact &&= !isOwn(part, at(context.profile))
  }
  const kept = intact ? blocks : blocks.filter((block) => !isThinking(block))
  // An answer must not end in thinking.
  while (kept.length > 0 && isThinking(kept.at(-1))) kept.pop()
  return kept
}

function assistantBlock(
  part: AssistantPart,
  ids: ReadonlyMap<AssistantPart, string>,
  answered: ReadonlySet<JsonObject>,
  context: Context,
): JsonObject | undefined {
  const { profile, projection } = context
  if (part.kind === 'reasoning') return thinkingBlock(part, profile)
  if (part.kind === 'media') return text(`(${named(part)} was shown here)`)
  const data = ownData(part, at(profile))
  if (part.kind === 'call') {
    const id = ids.get(part) ?? part.id
    const caller = data?.['caller'] === undefined ? {} : { caller: data['caller'] }
    return { type: 'tool_use', id, name: projection.wireName(part.name), input: callInput(part, projection), ...caller }
  }
  // Without words there is nothing to cite.
  if (part.text.trim() === '') return data && data['type'] !== 'text' && answered.has(data) ? data : undefined
  return { ...text(part.text), ...(data?.['citations'] !== undefined && { citations: data['citations'] }) }
}

/** Does the block say what the model said? A call that could not be read, or that shares its id, had to be changed. */
function isFaithful(call: CallPart, block: JsonObject): boolean {
  return call.input !== undefined && (call.native?.id === undefined || call.native.id === block['id'])
}

/** Thinking goes back unmodified and signed (T80–T82); unsigned only to endpoints that do not sign (T81). */
function thinkingBlock(part: ReasoningPart, profile: Profile): JsonObject | undefined {
  if (profile.replay === 'never' || !isOwn(part, at(profile))) return undefined
  const data = ownData(part, at(profile))
  if (data) return data
  return profile.signatures === 'optional' && part.text !== ''
    ? { type: 'thinking', thinking: wellFormed(part.text) }
    : undefined
}

/**
 * The blocks of server tools that may go back: a use and its result go together or not at all (T137). The result of a
 * use may come in the next answer, if the client's own calls had to be answered first.
 */
function serverPairs(steps: readonly Step[], profile: Profile): Set<JsonObject> {
  const allowed = new Set<JsonObject>()
  const answers = steps.filter((step): step is AssistantStep => step.kind === 'assistant')
  const blocks = answers.map(({ parts }) => {
    const data = parts.map((part) => (part.kind === 'text' ? ownData(part, at(profile)) : undefined))
    return data.filter((block) => block !== undefined)
  })
  for (const [place, mine] of blocks.entries()) {
    const step = answers[place]
    const pending = step === answers.at(-1) && (step === steps.at(-1) || step?.turn.finish.reason === 'calls')
    const uses = [...(blocks[place - 1] ?? []), ...mine].filter(isServerUse).map((block) => block['id'])
    const results = [...mine, ...(blocks[place + 1] ?? [])].map((block) => block['tool_use_id'])
    for (const block of mine) {
      const answered = block['tool_use_id']
      const fits = answered === undefined || uses.includes(answered)
      if (isServerUse(block) ? pending || results.includes(block['id']) : fits) allowed.add(block)
    }
  }
  return allowed
}

/** Is this a call that the server itself runs? */
export function isServerUse(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'server_tool_use' || block?.['type'] === 'mcp_tool_use'
}

function isThinking(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking'
}

/** A result, and what has to stand beside it: the result of a failure takes text only. */
function toolResult(id: string, result: ResultPart, profile: Profile): { block: JsonObject; beside: JsonObject[] } {
  const failed = result.status !== 'ok'
  const pieces = result.content
    .filter((part) => part.kind === 'media' || part.text.trim() !== '')
    .map((part) => (part.kind === 'text' ? part.text : (mediaBlock(part, profile) ?? leftOut(part, profile))))
  const media = pieces.filter((piece) => typeof piece !== 'string')
  const speaks = result.data !== undefined || result.error !== undefined || failed
  if (pieces.length === media.length && (media.length === 0 || speaks)) pieces.unshift(resultText(result))
  const plain = media.length === 0 || failed
  const words = pieces.filter((piece) => typeof piece === 'string').join('\n')
  const block: JsonObject = {
    type: 'tool_result',
    tool_use_id: id,
    content: plain ? wellFormed(words) : pieces.map((piece) => (typeof piece === 'string' ? text(piece) : piece)),
    ...(failed && { is_error: true }),
  }
  return { block, beside: failed ? media : [] }
}

function said(part: TextPart | MediaPart, profile: Profile): JsonObject {
  if (part.kind === 'text') return text(part.text)
  return mediaBlock(part, profile) ?? text(leftOut(part, profile))
}

function leftOut(part: MediaPart, profile: Profile): string {
  const where = part.uri !== undefined && !part.uri.startsWith('data:') ? ` at ${part.uri}` : ''
  const why = profile.media ? 'it cannot be shown to this model' : 'this model takes text only'
  return `(${named(part)}${where} was left out: ${why})`
}

function mediaBlock(part: MediaPart, profile: Profile): JsonObject | undefined {
  if (!profile.media) return undefined
  const own = ownData(part, at(profile))
  if (own) return own
  const source = mediaSource(part)
  return source && { type: part.mime === PDF || source['media_type'] === PDF ? 'document' : 'image', source }
}

/** Where the API finds a picture or a document; nothing if it would refuse it, empty ones included (T100). */
function mediaSource(part: MediaPart): JsonObject | undefined {
  const inline = /^data:([^;,]+);base64,(.+)$/s.exec(part.uri ?? '')
  const data = part.data ?? inline?.[2] ?? ''
  const type = MEDIA.get(part.mime) ?? MEDIA.get(inline?.[1] ?? '')
  if (data !== '') return type === undefined ? undefined : { type: 'base64', media_type: type, data }
  const showable = type !== undefined || part.mime === 'image/*'
  return showable && /^https?:/.test(part.uri ?? '') ? { type: 'url', url: part.uri ?? '' } : undefined
}

function named(part: MediaPart): string {
  return part.name === undefined ? part.mime : `${part.name} (${part.mime})`
}

function at(profile: Profile) {
  return { wire: 'anthropic', profile } as const
}

const PDF = 'application/pdf'

/** The media that the API takes, and what it calls them. */
const MEDIA: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
  [PDF, PDF],
])
