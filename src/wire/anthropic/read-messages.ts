import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  filterObjects,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, NativeData, NoteTurn, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { appendResults, createNativeDataFromRequest, pickOtherFields } from '../read-parts.ts'
import { readObjects, warnNotKept } from '../unread-fields.ts'
import { readTool } from './read-tools.ts'

type JsonFields = Record<string, unknown>

export interface MessageReader {
  readonly model: string
  /** The tools of the request, to which messages may refer. */
  readonly tools: readonly ToolSpec[]
  readonly warnings: Warning[]
  /** Called with each cache mark, which belongs to the request and not to the history. */
  readonly noteMark: (mark: unknown) => void
}

export function readMessages(value: unknown, reader: MessageReader): Turn[] {
  const turns: Turn[] = []
  for (const message of readObjects(value, 'A message', reader.warnings)) {
    const { role } = message
    const others = pickOtherFields(message, role === 'system' ? 'role content clear_at output_config' : 'role content')
    if (typeof role !== 'string' || !('content' in message || role === 'system')) {
      warnNotKept(reader.warnings, 'A message without a role or content', message)
      continue
    }
    const blocks = readBlocks(message['content'], reader)
    if (role === 'system') turns.push(readNote(message, blocks, reader))
    else warnNotKept(reader.warnings, 'A part of a message', others)
    if (role === 'assistant') turns.push(readAssistantTurn(blocks, reader))
    else if (role !== 'system') readUserContent(blocks, turns, reader)
    if (!ROLES.has(role)) warnNotKept(reader.warnings, 'The role of a message', role)
  }
  return turns
}

const ROLES = new Set(['user', 'assistant', 'system'])

/** The blocks of a message, without their cache marks. */
export function readBlocks(content: unknown, { warnings, noteMark }: MessageReader): JsonFields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return readObjects(content, 'A content block', warnings).map((block) => {
    if (!('cache_control' in block)) return block
    noteMark(block['cache_control'])
    return objectOrEmpty(pickOtherFields(block, 'cache_control'))
  })
}

/** A system message inside the history (T177). What only this wire understands is kept as the whole message. */
function readNote(message: JsonFields, blocks: readonly JsonFields[], reader: MessageReader): NoteTurn {
  const tools: ToolSpec[] = []
  const removedTools: string[] = []
  const texts: string[] = []
  let isPlain = pickOtherFields(message, 'role content') === undefined
  for (const block of blocks) {
    const change = readToolChange(block, reader)
    if (block['type'] === 'text') texts.push(stringOrEmpty(block['text']))
    else if (change?.added) tools.push(change.added)
    else if (change?.removed !== undefined) removedTools.push(change.removed)
    const isKnown = block['type'] === 'text' || change !== undefined
    isPlain &&= isKnown && pickOtherFields(block, 'type text tool') === undefined
    isPlain &&= pickOtherFields(objectOrEmpty(block['tool']), 'type name definition') === undefined
  }
  const whole = { ...pickOtherFields(message, 'role content'), content: blocks as JsonObject[] }
  return {
    role: 'note',
    text: texts.join('\n'),
    trusted: true,
    ...(tools.length > 0 && { tools }),
    ...(removedTools.length > 0 && { removedTools }),
    ...(!isPlain && { native: createNativeDataFromRequest('anthropic', undefined, whole) }),
  }
}

/** A tool that is added or removed. A tool may be defined here, or be one of the request; those of MCP servers are not ours. */
function readToolChange(block: JsonFields, reader: MessageReader): { added?: ToolSpec; removed?: string } | undefined {
  const { type, name, definition } = objectOrEmpty(block['tool'])
  const isReference = type === 'tool_reference' && typeof name === 'string'
  if (block['type'] === 'tool_removal') return isReference ? { removed: name } : undefined
  if (block['type'] !== 'tool_addition') return undefined
  if (type === 'tool_definition' && isObject(definition)) {
    const { spec } = readTool(definition, reader.noteMark)
    return spec && { added: spec }
  }
  const declared = isReference ? reader.tools.find((tool) => tool.name === name) : undefined
  if (!declared) return undefined
  const { deferred: _, ...added } = declared
  return { added }
}

function readAssistantTurn(blocks: readonly JsonFields[], reader: MessageReader): Turn {
  const parts = blocks.map((block) => readAssistantPart(block, reader))
  const reason = parts.some((part) => part.kind === 'call') ? 'calls' : 'stop'
  const origin = { provider: 'anthropic', wire: 'anthropic', model: reader.model } as const
  return { role: 'assistant', origin, parts, finish: { reason } }
}

/** A user message contains both the user's content and results of calls; these become separate turns, in order. */
function readUserContent(blocks: readonly JsonFields[], turns: Turn[], reader: MessageReader): void {
  let content: (TextPart | MediaPart)[] | undefined
  for (const block of blocks) {
    if (block['type'] === 'tool_result') {
      appendResults(turns, readToolResult(block, reader))
      content = undefined
    } else if (content) content.push(readContentPart(block, reader))
    else turns.push({ role: 'user', parts: (content = [readContentPart(block, reader)]) })
  }
}

function readAssistantPart(block: JsonFields, reader: MessageReader): AssistantPart {
  switch (block['type']) {
    case 'text':
      return readTextPart(block, reader)
    case 'thinking':
      return readThinking(block, reader)
    case 'redacted_thinking':
      return { kind: 'reasoning', text: '', native: keepBlock(block) }
    case 'tool_use':
      return readToolUse(block, reader)
    default:
      return { kind: 'text', text: describeBlock(block), native: keepBlock(block) }
  }
}

function readThinking(block: JsonFields, { warnings }: MessageReader): AssistantPart {
  const isSigned = stringOrEmpty(block['signature']) !== ''
  if (!isSigned) warnNotKept(warnings, 'A part of unsigned thinking', pickOtherFields(block, 'type thinking signature'))
  const native = isSigned ? keepBlock(block) : createNativeDataFromRequest('anthropic', undefined)
  return { kind: 'reasoning', text: stringOrEmpty(block['thinking']), native }
}

function readToolUse(block: JsonFields, { warnings }: MessageReader): AssistantPart {
  const id = stringOrEmpty(block['id'])
  const input = block['input'] ?? {}
  if (!isObject(input)) warnNotKept(warnings, 'The input of a call, which is not an object,', input)
  return {
    kind: 'call',
    id,
    name: stringOrEmpty(block['name']),
    raw: typeof input === 'string' ? input : JSON.stringify(input),
    ...(isObject(input) && { input: input as JsonObject }),
    native: createNativeDataFromRequest('anthropic', id === '' ? undefined : id, pickCallFields(block)),
  }
}

/** What a call has besides its name and input, such as the code that made it. That the model made it needs no word. */
export function pickCallFields(block: Readonly<JsonFields>): JsonObject | undefined {
  const { caller } = block
  const isDirect = isObject(caller) && caller['type'] === 'direct' && Object.keys(caller).length === 1
  return pickOtherFields(block, `type id name input cache_control${isDirect ? ' caller' : ''}`)
}

/** On this wire a result does not name its tool; its call does. */
function readToolResult(block: JsonFields, reader: MessageReader): ResultPart {
  const id = stringOrEmpty(block['tool_use_id'])
  const others = pickOtherFields(block, 'type tool_use_id content is_error')
  const blocks = readBlocks(block['content'], reader)
  // A tool that is not declared is perhaps one of the vendor's, which only the vendor can find.
  const isDeclared = (name: unknown) => reader.tools.some((tool) => tool.name === name)
  const isFound = (one: JsonFields) => one['type'] === 'tool_reference' && isDeclared(one['tool_name'])
  // The result of a failure has no references.
  const isRefused = (one: JsonFields) => one['type'] === 'tool_reference' && !isFound(one) && block['is_error'] === true
  for (const one of blocks.filter(isRefused)) warnNotKept(reader.warnings, 'A reference to a tool', one)
  const foundTools = blocks.filter(isFound).map((one) => {
    warnNotKept(reader.warnings, 'A part of a tool reference', pickOtherFields(one, 'type tool_name'))
    return String(one['tool_name'])
  })
  return {
    kind: 'result',
    id,
    name: '',
    status: block['is_error'] === true ? 'error' : 'ok',
    content: blocks
      .filter((one) => !isFound(one) && !isRefused(one))
      .map((one) => readContentPart(one, reader))
      .filter((part) => part.kind !== 'text' || part.text !== '' || part.native !== undefined),
    ...(foundTools.length > 0 && { foundTools }),
    ...(others && { native: createNativeDataFromRequest('anthropic', id, others) }),
  }
}

function readContentPart(block: JsonFields, reader: MessageReader): TextPart | MediaPart {
  if (block['type'] === 'text') return readTextPart(block, reader)
  const text = describeBlock(block)
  if (text !== '') return { kind: 'text', text, native: keepBlock(block) }
  const source = objectOrEmpty(block['source'])
  const isImage = block['type'] === 'image'
  const isMedia = isImage || block['type'] === 'document'
  const fallback = isImage ? 'image/*' : 'application/octet-stream'
  const mime = typeof source['media_type'] === 'string' ? source['media_type'] : fallback
  const isPlain =
    pickOtherFields(block, 'type source') === undefined &&
    pickOtherFields(source, 'type media_type data url') === undefined
  const named = defined({ name: nonBlankString(block['title']) })
  const native = isPlain ? named : { ...named, native: keepBlock(block) }
  if (isMedia && source['type'] === 'base64')
    return { kind: 'media', mime, data: stringOrEmpty(source['data']), ...native }
  if (isMedia && source['type'] === 'url')
    return { kind: 'media', mime: isImage ? mime : 'application/pdf', uri: stringOrEmpty(source['url']), ...native }
  // A file at the vendor, or a block of an unknown type: only the vendor can read it.
  return { kind: 'media', mime, native: keepBlock(block) }
}

/** What other models can read of a block that has no form on their wires: documents of text, search results, summaries. */
function describeBlock(block: JsonFields): string {
  const source = objectOrEmpty(block['source'])
  switch (block['type']) {
    case 'document':
      return source['type'] === 'text' ? stringOrEmpty(source['data']) : joinText(filterObjects(source['content']))
    case 'search_result':
      return [block['title'], block['source'], joinText(filterObjects(block['content']))].map(stringOrEmpty).join('\n')
    case 'compaction':
      return stringOrEmpty(block['content'])
    default:
      return ''
  }
}

export function joinText(blocks: readonly JsonFields[]): string {
  return blocks.map((block) => stringOrEmpty(block['text'])).join('\n')
}

function readTextPart(block: JsonFields, { warnings }: MessageReader): TextPart {
  const { citations } = block
  const hasNoCitations = citations === null || (Array.isArray(citations) && citations.length === 0)
  const others = pickOtherFields(block, `type text${hasNoCitations ? ' citations' : ''}`)
  const text = stringOrEmpty(block['text'])
  if (text.trim() === '') {
    warnNotKept(warnings, 'A part of an empty text', others)
    return { kind: 'text', text }
  }
  const native = others && createNativeDataFromRequest('anthropic', undefined, { type: 'text', ...others })
  return { kind: 'text', text, ...defined({ native }) }
}

function keepBlock(block: JsonFields): NativeData {
  return createNativeDataFromRequest('anthropic', undefined, block as Json)
}
