import type { JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { findResultMedia, formatResultText, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ReasoningPart, ResultPart, TextPart } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { formatCallAsText, formatResultAsText } from '../text-calls/format-text-calls.ts'
import {
  toWireArguments,
  toWireArgumentText,
  isNativeTo,
  getReplayableData,
  type TranscriptStep,
} from '../history/transcript.ts'

/** A message as the API takes it: a role and a list of blocks. */
export interface AnthropicMessage {
  readonly role: 'user' | 'assistant'
  readonly content: JsonObject[]
}

interface EncodeContext {
  readonly profile: Profile
  readonly projection: ToolDeclarations
}

type AssistantStep = TranscriptStep & { kind: 'assistant' }

/** Writes the history. Whatever the user's side has to say in a row becomes one message, with the results in front (T91). */
export function encodeMessages(steps: readonly TranscriptStep[], context: EncodeContext): AnthropicMessage[] {
  const messages: AnthropicMessage[] = []
  const resultId = findServerToolPairs(steps, context.profile)
  const addUserContent = (content: JsonObject[]): void => {
    const last = messages.at(-1)
    if (last?.role === 'user') last.content.push(...content)
    else if (content.length > 0) messages.push({ role: 'user', content })
  }
  for (const step of steps) {
    if (step.kind === 'user') addUserContent(step.parts.map((part) => encodeUserPart(part, context.profile)))
    else if (context.profile.tools === 'text') {
      const content = encodeAsText(step, context)
      if (content.length > 0) messages.push({ role: 'assistant', content })
      addUserContent(
        step.pairs.flatMap(({ call, result }) => [
          createTextBlock(
            formatResultAsText(context.projection.toWireName(call.name), formatResultText(result), result.status),
          ),
          ...findResultMedia(result).map((part) => encodeUserPart(part, context.profile)),
        ]),
      )
    } else {
      const content = encodeAssistant(step, resultId, context)
      if (content.length > 0) messages.push({ role: 'assistant', content })
      const results = step.pairs.map(({ id, result }) => encodeToolResult(id, result, context.profile))
      addUserContent([...results.map(({ block }) => block), ...results.flatMap(({ beside }) => beside)])
    }
  }
  return messages
}

function createTextBlock(content: string): JsonObject {
  return { type: 'text', text: toWellFormed(content) }
}

/** A model without native calls reads its own calls as text, in the form in which it is asked to write them. */
function encodeAsText(step: AssistantStep, { projection }: EncodeContext): JsonObject[] {
  const calls = step.pairs.map(({ call }) =>
    formatCallAsText(projection.toWireName(call.name), toWireArgumentText(call, projection)),
  )
  const texts = step.parts.flatMap((part) => {
    if (part.kind === 'media') return [`(${describeMedia(part)} was shown here)`]
    return part.kind === 'text' ? [part.text] : []
  })
  return [...texts, ...calls].filter((one) => one.trim() !== '').map(createTextBlock)
}

/** The blocks of an answer. Thinking is signed together with its siblings: if one of these has to go, the thinking goes too (T80). */
function encodeAssistant(step: AssistantStep, resultId: ReadonlySet<JsonObject>, context: EncodeContext): JsonObject[] {
  const blocks: JsonObject[] = []
  const sent = new Set(step.parts)
  const ids = new Map(step.pairs.map(({ call, id }) => [call, id]))
  let intact = step.turn.parts.every((part) => part.kind !== 'call' || sent.has(part))
  for (const part of step.parts) {
    const block = encodeAssistantPart(part, ids, resultId, context)
    if (block) blocks.push(block)
    if (!block || (part.kind === 'call' && !matchesOriginal(part, block)))
      intact &&= !isNativeTo(part, createNativeScope(context.profile))
  }
  const kept = intact ? blocks : blocks.filter((block) => !isThinking(block))
  // An answer must not end in thinking.
  while (kept.length > 0 && isThinking(kept.at(-1))) kept.pop()
  return kept
}

function encodeAssistantPart(
  part: AssistantPart,
  ids: ReadonlyMap<AssistantPart, string>,
  resultId: ReadonlySet<JsonObject>,
  context: EncodeContext,
): JsonObject | undefined {
  const { profile, projection } = context
  if (part.kind === 'reasoning') return encodeThinking(part, profile)
  if (part.kind === 'media') return createTextBlock(`(${describeMedia(part)} was shown here)`)
  const data = getReplayableData(part, createNativeScope(profile))
  if (part.kind === 'call') {
    const id = ids.get(part) ?? part.id
    const caller = data?.['caller'] === undefined ? {} : { caller: data['caller'] }
    return {
      type: 'tool_use',
      id,
      name: projection.toWireName(part.name),
      input: toWireArguments(part, projection),
      ...caller,
    }
  }
  // Without words there is nothing to cite.
  if (part.text.trim() === '') return data && data['type'] !== 'text' && resultId.has(data) ? data : undefined
  return { ...createTextBlock(part.text), ...(data?.['citations'] !== undefined && { citations: data['citations'] }) }
}

/** Does the block say what the model said? A call that could not be read, or that shares its id, had to be changed. */
function matchesOriginal(call: CallPart, block: JsonObject): boolean {
  return call.input !== undefined && (call.native?.id === undefined || call.native.id === block['id'])
}

/** Thinking goes back unmodified and signed (T80–T82); unsigned only to endpoints that do not sign (T81). */
function encodeThinking(part: ReasoningPart, profile: Profile): JsonObject | undefined {
  if (profile.replay === 'never' || !isNativeTo(part, createNativeScope(profile))) return undefined
  const data = getReplayableData(part, createNativeScope(profile))
  if (data) return data
  return profile.signatures === 'optional' && part.text !== ''
    ? { type: 'thinking', thinking: toWellFormed(part.text) }
    : undefined
}

/**
 * The blocks of server tools that may go back: a use and its result go together or not at all (T137). The result of a
 * use may come in the next answer, if the client's own calls had to be answered first.
 */
function findServerToolPairs(steps: readonly TranscriptStep[], profile: Profile): Set<JsonObject> {
  const allowed = new Set<JsonObject>()
  const answers = steps.filter((step): step is AssistantStep => step.kind === 'assistant')
  const blocks = answers.map(({ parts }) => {
    const data = parts.map((part) =>
      part.kind === 'text' ? getReplayableData(part, createNativeScope(profile)) : undefined,
    )
    return data.filter((block) => block !== undefined)
  })
  for (const [index, stepBlocks] of blocks.entries()) {
    const step = answers[index]
    const pending = step === answers.at(-1) && (step === steps.at(-1) || step?.turn.finish.reason === 'calls')
    const uses = [...(blocks[index - 1] ?? []), ...stepBlocks].filter(isServerToolUse).map((block) => block['id'])
    const results = [...stepBlocks, ...(blocks[index + 1] ?? [])].map((block) => block['tool_use_id'])
    for (const block of stepBlocks) {
      const resultId = block['tool_use_id']
      const fits = resultId === undefined || uses.includes(resultId)
      if (isServerToolUse(block) ? pending || results.includes(block['id']) : fits) allowed.add(block)
    }
  }
  return allowed
}

/** Is this a call that the server itself runs? */
export function isServerToolUse(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'server_tool_use' || block?.['type'] === 'mcp_tool_use'
}

function isThinking(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking'
}

/** A result, and what has to stand beside it: the result of a failure takes text only. */
function encodeToolResult(
  id: string,
  result: ResultPart,
  profile: Profile,
): { block: JsonObject; beside: JsonObject[] } {
  const failed = result.status !== 'ok'
  const pieces = result.content
    .filter((part) => part.kind === 'media' || part.text.trim() !== '')
    .map((part) =>
      part.kind === 'text' ? part.text : (encodeMedia(part, profile) ?? describeOmittedMedia(part, profile)),
    )
  const media = pieces.filter((piece) => typeof piece !== 'string')
  const hasDetails = result.data !== undefined || result.error !== undefined || failed
  if (pieces.length === media.length && (media.length === 0 || hasDetails)) pieces.unshift(formatResultText(result))
  const plain = media.length === 0 || failed
  const plainText = pieces.filter((piece) => typeof piece === 'string').join('\n')
  const block: JsonObject = {
    type: 'tool_result',
    tool_use_id: id,
    content: plain
      ? toWellFormed(plainText)
      : pieces.map((piece) => (typeof piece === 'string' ? createTextBlock(piece) : piece)),
    ...(failed && { is_error: true }),
  }
  return { block, beside: failed ? media : [] }
}

function encodeUserPart(part: TextPart | MediaPart, profile: Profile): JsonObject {
  if (part.kind === 'text') return createTextBlock(part.text)
  return encodeMedia(part, profile) ?? createTextBlock(describeOmittedMedia(part, profile))
}

function describeOmittedMedia(part: MediaPart, profile: Profile): string {
  const where = part.uri !== undefined && !part.uri.startsWith('data:') ? ` at ${part.uri}` : ''
  const why = profile.media ? 'it cannot be shown to this model' : 'this model takes text only'
  return `(${describeMedia(part)}${where} was left out: ${why})`
}

function encodeMedia(part: MediaPart, profile: Profile): JsonObject | undefined {
  if (!profile.media) return undefined
  const replayable = getReplayableData(part, createNativeScope(profile))
  if (replayable) return replayable
  const source = encodeMediaSource(part)
  return source && { type: part.mime === PDF_MIME || source['media_type'] === PDF_MIME ? 'document' : 'image', source }
}

/** Where the API finds a picture or a document; nothing if it would refuse it, empty ones included (T100). */
function encodeMediaSource(part: MediaPart): JsonObject | undefined {
  const inline = /^data:([^;,]+);base64,(.+)$/s.exec(part.uri ?? '')
  const data = part.data ?? inline?.[2] ?? ''
  const type = SUPPORTED_MIME_TYPES.get(part.mime) ?? SUPPORTED_MIME_TYPES.get(inline?.[1] ?? '')
  if (data !== '') return type === undefined ? undefined : { type: 'base64', media_type: type, data }
  const showable = type !== undefined || part.mime === 'image/*'
  return showable && /^https?:/.test(part.uri ?? '') ? { type: 'url', url: part.uri ?? '' } : undefined
}

function describeMedia(part: MediaPart): string {
  return part.name === undefined ? part.mime : `${part.name} (${part.mime})`
}

function createNativeScope(profile: Profile) {
  return { wire: 'anthropic', profile } as const
}

const PDF_MIME = 'application/pdf'

/** The media that the API takes, and what it calls them. */
const SUPPORTED_MIME_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
  [PDF_MIME, PDF_MIME],
])
