import type { Warning } from '../../model/event.ts'
import { type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ToolSpec } from '../../model/request.ts'
import { describeMedia, findResultMedia, formatResultText, toWellFormed } from '../../model/text.ts'
import type {
  AssistantPart,
  AssistantTurn,
  CallPart,
  MediaPart,
  ReasoningPart,
  ResultPart,
  TextPart,
} from '../../model/turn.ts'
import { formatCallPart, formatResultPart } from '../text-calls/format-text-calls.ts'
import type { AssistantStep, EncodeContext, TranscriptStep, UserStep } from '../history/transcript.ts'
import { getReplayableData, hasNativeDataFor, toWireArguments } from '../history/transcript.ts'
import { pickOtherFields } from '../read-parts.ts'
import { warnAboutPartner } from '../unread-fields.ts'
import { encodeNote, encodeSettingsNote } from './encode-notes.ts'

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: JsonObject[]
}

/**
 * Consecutive user content becomes one message, with the results first (T91). Notes that are system messages follow it,
 * because nothing but an answer may follow them. `requestTools` are the tools that are declared beside the history.
 */
export function encodeMessages(
  steps: readonly TranscriptStep[],
  context: EncodeContext,
  requestTools: readonly ToolSpec[],
  warnings: Warning[],
): AnthropicMessage[] {
  const messages: AnthropicMessage[] = []
  const serverToolBlocks = findServerToolPairs(steps, context)
  let notes: UserStep[] = []
  let hasUserContent = false
  const addUserContent = (content: JsonObject[]): void => {
    const last = messages.at(-1)
    hasUserContent ||= content.length > 0
    if (last?.role === 'user') last.content.push(...content)
    else if (content.length > 0) messages.push({ role: 'user', content })
  }
  const addUserStep = (step: UserStep): void => {
    const settings = encodeSettingsNote(step, context)
    if (settings) messages.push(settings)
    else if (step.note || step.tools || step.removedTools) notes.push(step)
    if (!step.note) addUserContent(step.parts.map((part) => encodeUserPart(part, context)))
  }
  const addNotes = (): void => {
    // Without anything of the user before it, a note is not accepted.
    const isUserText = !hasUserContent
    if (isUserText)
      for (const { note, parts } of notes) if (note) addUserContent(parts.map((part) => encodeUserPart(part, context)))
    for (const step of notes) messages.push(...encodeNote(step, context, requestTools, !isUserText))
    notes = []
    hasUserContent = false
  }
  for (const step of steps) {
    if (step.kind === 'user') {
      addUserStep(step)
      continue
    }
    addNotes()
    const isText = context.profile.tools === 'text'
    const content = isText ? encodeAsText(step, context) : encodeAssistant(step, serverToolBlocks, context, warnings)
    if (content.length > 0) messages.push({ role: 'assistant', content })
    addUserContent(isText ? encodeTextResults(step, context) : encodeToolResults(step, context, requestTools))
  }
  addNotes()
  return messages
}

function createTextBlock(content: string): JsonObject {
  return { type: 'text', text: toWellFormed(content) }
}

/** A model without native calls gets its own calls as text, in the format in which it is asked to write them. */
function encodeAsText(step: AssistantStep, { projection }: EncodeContext): JsonObject[] {
  const texts = step.parts.flatMap((part) => {
    if (part.kind === 'media') return [describeShownMedia(part)]
    return part.kind === 'text' ? [part.text] : []
  })
  const calls = step.pairs.map(({ call }) => formatCallPart(call, projection))
  return [...texts, ...calls].filter((text) => text.trim() !== '').map(createTextBlock)
}

function encodeTextResults(step: AssistantStep, context: EncodeContext): JsonObject[] {
  return step.pairs.flatMap((pair) => [
    createTextBlock(formatResultPart(pair, context.projection)),
    ...findResultMedia(pair.result).map((part) => encodeUserPart(part, context)),
  ])
}

function encodeToolResults(
  step: AssistantStep,
  context: EncodeContext,
  requestTools: readonly ToolSpec[],
): JsonObject[] {
  const results = step.pairs.map(({ id, result }) => encodeToolResult(id, result, context, requestTools))
  return [...results.map(({ block }) => block), ...results.flatMap(({ beside }) => beside)]
}

/** Thinking is signed together with the blocks beside it: if one of these changes, the thinking is left out too (T80). */
function encodeAssistant(
  step: AssistantStep,
  serverToolBlocks: ReadonlySet<JsonObject>,
  context: EncodeContext,
  warnings: Warning[],
): JsonObject[] {
  const blocks: JsonObject[] = []
  const sent = new Set(step.parts)
  const ids = new Map(step.pairs.map(({ call, id }) => [call, id]))
  let intact = step.turn.parts.every((part) => part.kind !== 'call' || sent.has(part))
  for (const part of step.parts) {
    const block = encodeAssistantPart(part, ids, serverToolBlocks, context)
    if (block) blocks.push(block)
    else if (part.kind === 'text') warnAboutUnsentBlock(part, step, context, warnings)
    if (!block || (part.kind === 'call' && !matchesOriginal(part, block))) intact &&= !hasNativeDataFor(part, context)
  }
  const kept = blocks.filter((block) => intact || !isThinking(block))
  // A message must not end in thinking.
  while (kept.length > 0 && isThinking(kept.at(-1))) kept.pop()
  const lost = blocks.filter(isThinking).length - kept.filter(isThinking).length
  if (lost > 0 && !step.isReported) warnings.push(createThinkingWarning(lost, intact))
  return kept
}

function createThinkingWarning(count: number, intact: boolean): Warning {
  const why = intact ? 'because no message may end in thinking' : 'because a block beside it was changed or left out'
  const what = count === 1 ? 'A block of thinking was' : `${count} blocks of thinking were`
  return { code: 'thinking', message: `${what} left out, ${why} (T80).` }
}

function warnAboutUnsentBlock(
  part: TextPart,
  { isReported }: AssistantStep,
  context: EncodeContext,
  warnings: Warning[],
): void {
  const data = getReplayableData(part, context)
  if (data && data['type'] !== 'text' && !isReported) warnAboutPartner(data, warnings)
}

function encodeAssistantPart(
  part: AssistantPart,
  ids: ReadonlyMap<AssistantPart, string>,
  serverToolBlocks: ReadonlySet<JsonObject>,
  context: EncodeContext,
): JsonObject | undefined {
  const data = getReplayableData(part, context)
  switch (part.kind) {
    case 'reasoning':
      return encodeThinking(part, context)
    case 'media':
      return createTextBlock(describeShownMedia(part))
    case 'call':
      return {
        type: 'tool_use',
        id: ids.get(part) ?? part.id,
        name: context.projection.toWireName(part.name),
        input: toWireArguments(part, context.projection),
        ...(data && pickOtherFields(data, 'type id name input')),
      }
    case 'text':
      if (data && data['type'] !== 'text') return serverToolBlocks.has(data) ? data : undefined
      // Without text there is nothing to cite.
      return part.text.trim() === '' ? undefined : encodeTextPart(part, context)
    default:
      return part satisfies never
  }
}

/** A call that could not be parsed, or that shares its id with another, had to be changed. */
function matchesOriginal(call: CallPart, block: JsonObject): boolean {
  return call.input !== undefined && (call.native?.id === undefined || call.native.id === block['id'])
}

/** Thinking is sent back unmodified and signed (T80–T82); unsigned only to endpoints that do not sign (T81). */
function encodeThinking(part: ReasoningPart, context: EncodeContext): JsonObject | undefined {
  const { profile } = context
  if (profile.replay === 'never' || !hasNativeDataFor(part, context)) return undefined
  const isUnsigned = profile.signatures === 'optional' && part.text !== ''
  return (
    getReplayableData(part, context) ??
    (isUnsigned ? { type: 'thinking', thinking: toWellFormed(part.text) } : undefined)
  )
}

/** The server tool blocks to send back: a use and its result together or not at all (T137), also of two responses. */
function findServerToolPairs(steps: readonly TranscriptStep[], context: EncodeContext): Set<JsonObject> {
  const allowed = new Set<JsonObject>()
  const answers = steps.filter((step) => step.kind === 'assistant')
  const blocks = answers.map(({ parts }) =>
    parts
      .map((part) => (part.kind === 'text' ? getReplayableData(part, context) : undefined))
      .filter((block) => block !== undefined),
  )
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

/** The use of a server tool and its result may be in two responses that follow each other. */
export function hasServerTools({ parts }: AssistantTurn): boolean {
  return parts.some(({ native }) => {
    const block = objectOrEmpty(native?.data) as JsonObject
    return isServerToolUse(block) || block['tool_use_id'] !== undefined
  })
}

export function isServerToolUse(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'server_tool_use' || block?.['type'] === 'mcp_tool_use'
}

export function isThinking(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking'
}

/** A result, and the media that are sent beside it: the result of a failure may contain only text. */
function encodeToolResult(
  id: string,
  result: ResultPart,
  context: EncodeContext,
  requestTools: readonly ToolSpec[],
): { block: JsonObject; beside: JsonObject[] } {
  const failed = result.status !== 'ok'
  const references = failed ? [] : encodeFoundTools(result, context, requestTools)
  const pieces: (string | JsonObject)[] = result.content
    .filter((part) => part.kind === 'media' || part.text.trim() !== '')
    .map((part) => {
      if (part.kind === 'media') return encodeMedia(part, context) ?? describeOmittedMedia(part, context.profile)
      const data = getReplayableData(part, context)
      // The result of a failure is one text; a block with more than text stands beside it.
      return data && !(failed && data['type'] === 'text') ? encodeTextPart(part, context) : part.text
    })
  const blocks = [...pieces.filter((piece) => typeof piece !== 'string'), ...references]
  const hasDetails = result.data !== undefined || result.error !== undefined || failed
  if (!pieces.some((piece) => typeof piece === 'string') && (blocks.length === 0 || hasDetails))
    pieces.unshift(formatResultText(result))
  const plainText = pieces.filter((piece) => typeof piece === 'string').join('\n')
  const block: JsonObject = {
    type: 'tool_result',
    tool_use_id: id,
    content:
      blocks.length === 0 || failed
        ? toWellFormed(plainText)
        : [...pieces.map((piece) => (typeof piece === 'string' ? createTextBlock(piece) : piece)), ...references],
    ...(failed && { is_error: true }),
    ...pickOtherFields(getReplayableData(result, context) ?? {}, 'type tool_use_id content is_error'),
  }
  return { block, beside: failed ? blocks : [] }
}

/** The deferred tools that a result found. A name that is not declared would make every later request fail (T178). */
function encodeFoundTools(
  { foundTools = [] }: ResultPart,
  { canFindTools, projection }: EncodeContext,
  requestTools: readonly ToolSpec[],
): JsonObject[] {
  if (!canFindTools) return []
  const declared = foundTools.filter((found) => requestTools.some(({ name }) => name === found))
  return declared.map((name) => ({ type: 'tool_reference', tool_name: projection.toWireName(name) }))
}

function encodeUserPart(part: TextPart | MediaPart, context: EncodeContext): JsonObject {
  if (part.kind === 'text') return encodeTextPart(part, context)
  return encodeMedia(part, context) ?? createTextBlock(describeOmittedMedia(part, context.profile))
}

/** With what the vendor's block had besides the text; a block of another type is sent as it came. */
function encodeTextPart(part: TextPart, context: EncodeContext): JsonObject {
  const data = getReplayableData(part, context)
  if (data && data['type'] !== 'text') return data
  return { ...createTextBlock(part.text), ...(data && pickOtherFields(data, 'type text')) }
}

function describeShownMedia(part: MediaPart): string {
  return `(${describeMedia(part)} was shown here)`
}

function describeOmittedMedia(part: MediaPart, profile: Profile): string {
  const where = part.uri !== undefined && !part.uri.startsWith('data:') ? ` at ${part.uri}` : ''
  const why = profile.media ? 'it cannot be shown to this model' : 'this model takes text only'
  return `(${describeMedia(part)}${where} was left out: ${why})`
}

function encodeMedia(part: MediaPart, context: EncodeContext): JsonObject | undefined {
  if (!context.profile.media) return undefined
  const replayable = getReplayableData(part, context)
  if (replayable) return replayable
  const source = encodeMediaSource(part)
  const isPdf = part.mime === PDF_MIME || source?.['media_type'] === PDF_MIME
  if (!isPdf) return source && { type: 'image', source }
  return source && { type: 'document', source, ...(part.name !== undefined && { title: toWellFormed(part.name) }) }
}

export function isSupportedMedia(part: MediaPart, profile: Profile): boolean {
  return profile.media && encodeMediaSource(part) !== undefined
}

/** Undefined if the API would reject it, also if it is empty (T100). */
function encodeMediaSource(part: MediaPart): JsonObject | undefined {
  const inline = /^data:([^;,]+);base64,(.+)$/s.exec(part.uri ?? '')
  const data = part.data ?? inline?.[2] ?? ''
  const type = SUPPORTED_MIME_TYPES.get(part.mime) ?? SUPPORTED_MIME_TYPES.get(inline?.[1] ?? '')
  if (data !== '') return type === undefined ? undefined : { type: 'base64', media_type: type, data }
  const showable = type !== undefined || part.mime === 'image/*'
  return showable && /^https?:/.test(part.uri ?? '') ? { type: 'url', url: part.uri ?? '' } : undefined
}

const PDF_MIME = 'application/pdf'

/** The media types that the API accepts, and its names for them. */
const SUPPORTED_MIME_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ...['image/jpeg', 'image/png', 'image/gif', 'image/webp', PDF_MIME].map((mime) => [mime, mime] as const),
])
