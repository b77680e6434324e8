import { defined } from '../../model/defined.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
  toCanonicalJson,
} from '../../model/json.ts'
import type { ModelRequest, ToolSpec } from '../../model/request.ts'
import { formatResultText } from '../../model/text.ts'
import type {
  AssistantPart,
  AssistantTurn,
  CallPart,
  MediaPart,
  NoteTurn,
  ResultPart,
  TextPart,
} from '../../model/turn.ts'
import { separateDetails } from './details.ts'
import type {
  CompleteConversation,
  PlainCall,
  PlainContentPart,
  PlainConversation,
  PlainMessage,
  PlainNote,
  PlainPart,
  PlainResult,
  PlainTool,
} from './plain-conversation.ts'

/** Ids are those of the wire; what only its vendor understands is among the details. */
export function toPlainConversation(request: ModelRequest): PlainConversation {
  return separateDetails(toCompleteConversation(request))
}

function toCompleteConversation(request: ModelRequest): CompleteConversation {
  const tools = listTools(request)
  const params = JSON.parse(JSON.stringify(request.params ?? {})) as JsonObject
  const { previous } = request
  return {
    ...(request.model !== '' && { model: request.model }),
    system: request.system ?? null,
    messages: toPlainMessages(request, tools),
    ...(tools.listed.length > 0 && { tools: tools.listed.map(toPlainTool) }),
    ...defined({
      serverTools: request.serverTools,
      hostedTools: request.hostedTools,
      toolChoice: request.toolChoice,
    }),
    ...(Object.keys(params).length > 0 && { params }),
    ...defined({ output: request.output, providerOptions: request.providerOptions }),
    ...defined({ session: request.session, prompt: request.prompt, project: request.project }),
    ...(previous && { previous: previous.id, previousWire: previous.wire }),
    ...defined({ continuation: request.continuation, diagnoseCache: request.diagnoseCache }),
  }
}

/** The tools of a request and those that only notes add; each name of the latter once. */
interface ListedTools {
  readonly listed: readonly ToolSpec[]
  /** The tools of notes, by name. */
  readonly late: ReadonlyMap<string, ToolSpec>
}

function listTools({ tools, turns }: ModelRequest): ListedTools {
  const names = new Set(tools.map(({ name }) => name))
  const late = new Map<string, ToolSpec>()
  for (const turn of turns)
    if (turn.role === 'note')
      for (const tool of turn.tools ?? []) if (!names.has(tool.name) && !late.has(tool.name)) late.set(tool.name, tool)
  return { listed: [...tools, ...late.values()], late }
}

function toPlainMessages(request: ModelRequest, tools: ListedTools): PlainMessage[] {
  const messages: PlainMessage[] = []
  const ids = listCallIds(request)
  for (const turn of request.turns) {
    switch (turn.role) {
      case 'user':
        messages.push({ role: 'user', parts: turn.parts.map(toPlainContent) })
        break
      case 'note':
        messages.push(toPlainNote(turn, tools))
        break
      case 'assistant':
        messages.push({ role: 'assistant', parts: turn.parts.map(toPlainPart), ...describeTurn(turn, request) })
        break
      case 'results':
        for (const part of turn.parts) messages.push({ role: 'tool', parts: [toPlainResult(part, ids)] })
        break
    }
  }
  return messages
}

function toPlainTool({ description, ...rest }: ToolSpec): PlainTool {
  return description === '' ? rest : { ...rest, description }
}

function toPlainNote(
  { text, trusted, tools = [], removedTools, native }: NoteTurn,
  { late }: ListedTools,
): PlainMessage {
  const addsTools = tools.map((tool) => {
    const listed = late.get(tool.name)
    return listed && toCanonicalJson(listed) === toCanonicalJson(tool) ? tool.name : toPlainTool(tool)
  })
  const note: PlainNote = {
    ...defined({ trusted }),
    ...(addsTools.length > 0 && { addsTools }),
    ...defined({ removesTools: removedTools, native }),
  }
  return { role: 'user', parts: text === '' ? [] : [{ type: 'text', text }], note }
}

/** What a response says of itself, if that is more than readers make of any request. */
function describeTurn({ finish, origin }: AssistantTurn, { model }: ModelRequest): Partial<PlainMessage> {
  const isUsualFinish = finish.reason === 'stop' && Object.keys(finish).length === 1
  const isUsualOrigin = origin.provider === origin.wire && (origin.model === '' || origin.model === model)
  return { ...(!isUsualFinish && { finish }), ...(!isUsualOrigin && { origin }) }
}

function toPlainContent(part: TextPart | MediaPart): PlainContentPart {
  const { name, native } = part
  if (part.kind === 'media')
    return { type: 'media', mime: part.mime, ...defined({ data: part.data, uri: part.uri, name, native }) }
  const { refusal } = part
  if (part.text === '' && isObject(native?.data))
    return { type: 'item', kind: getNativeKind(native.data), ...defined({ refusal, name, native }) }
  return { type: 'text', text: part.text, ...defined({ refusal, name, native }) }
}

/** Fields of a message, of a part or of a response are not needed for sending the part back. */
function isOpaque({ native }: AssistantPart): boolean {
  const { data } = native ?? {}
  if (!isObject(data)) return data !== undefined
  return Object.keys(data).some((key) => !['message', 'fields', 'field', 'response', 'cache_control'].includes(key))
}

/** The vendor's type of an item or a part, which may be inside the data. */
function getNativeKind(data: Record<string, unknown>): string {
  const kinds = [data, objectOrEmpty(data['item']), objectOrEmpty(data['part']), objectOrEmpty(data['step'])]
  return kinds.map(({ type }) => stringOrEmpty(type)).find((kind) => kind !== '') ?? 'native'
}

function toPlainPart(part: AssistantPart): PlainPart {
  const opaque = isOpaque(part) ? ({ opaque: true } as const) : {}
  const { native } = part
  switch (part.kind) {
    case 'reasoning':
      return { type: 'reasoning', ...(part.text !== '' && { text: part.text }), ...opaque, ...defined({ native }) }
    case 'call':
      return { ...toPlainCall(part), ...opaque, ...defined({ native }) }
    case 'text':
    case 'media':
      return toPlainContent(part)
    default:
      return part satisfies never
  }
}

function toPlainCall(call: CallPart): PlainCall {
  const { name, raw, freeform, flaw } = call
  const id = getWireId(call)
  const isOwnId = id === call.id && nonBlankString(id) !== undefined
  // `null`, which some vendors send for "no arguments", is shown as it is.
  const args = raw.trim() === 'null' && call.input ? null : (call.input ?? raw)
  const isRaw = raw === (typeof args === 'string' ? args : stringify(args ?? {}))
  return {
    type: 'call',
    ...defined({ id }),
    ...(!isOwnId && { ownId: call.id }),
    name,
    args,
    ...(!isRaw && { raw }),
    ...defined({ freeform, flaw }),
  }
}

/** Undefined if it is nested too deeply. */
function stringify(value: Json): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function getWireId({ id, native }: CallPart): string | undefined {
  return native ? native.id : id
}

interface CallIds {
  /** The ids on the wire, by our own. */
  readonly byOwnId: ReadonlyMap<string, string | undefined>
  /** Are all ids on the wire our own? */
  readonly areOwn: boolean
}

function listCallIds({ turns }: ModelRequest): CallIds {
  const calls = turns
    .flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
    .filter((part) => part.kind === 'call')
  return {
    byOwnId: new Map(calls.map((call) => [call.id, getWireId(call)])),
    areOwn: calls.every((call) => getWireId(call) === call.id),
  }
}

function toPlainResult(part: ResultPart, { byOwnId, areOwn }: CallIds): PlainResult {
  const { name, status, content, data, display, error, foundTools, native } = part
  const id = native ? native.id : byOwnId.has(part.id) ? byOwnId.get(part.id) : part.id
  const isOwnId = areOwn && id === part.id && nonBlankString(id) !== undefined
  const output = data ?? (content.length === 0 ? '' : formatResultText(part))
  const isPlain = isPlainOutput(part, output)
  return {
    type: 'result',
    ...defined({ id }),
    ...(!isOwnId && { ownId: part.id }),
    ...(name !== '' && { name }),
    output,
    ...(status !== 'ok' && { error: true as const }),
    ...(status !== 'ok' && status !== 'error' && { status }),
    ...(!isPlain && { content: content.map(toPlainContent), ...defined({ data }) }),
    ...defined({ display, errorDetails: error, foundTools, native }),
  }
}

/** Does `output` say all of the result? A string is its only text, everything else its data. */
function isPlainOutput({ content, data }: ResultPart, output: Json): boolean {
  if (typeof output !== 'string') return content.length === 0
  const [only, ...others] = content
  if (data !== undefined || others.length > 0) return false
  return only?.kind === 'text' && only.text === output && Object.keys(only).length === 2
}
