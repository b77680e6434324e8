import { isObject } from '../../model/json.ts'
import { checkAnthropicFormat } from './response-format.ts'
import { type UnknownFields, findFirstError, toObjectList, isNonBlankString, findDuplicate } from './read-fields.ts'

export function checkAnthropicRequest(body: UnknownFields): string | undefined {
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
  const messages = toObjectList(body['messages'])
  if (!messages || messages.length === 0) return 'messages: at least one message is required'
  const wrong = messages.findIndex(({ role }) => !ROLES.includes(String(role)))
  if (wrong >= 0) return `messages.${wrong}.role: Input should be 'user', 'assistant' or 'system'`
  if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role'
  // A system message inside the conversation may stand between any two others.
  const all = mergeMessages(messages.filter(({ role }) => role !== 'system'))
  return (
    checkTools(body, all) ??
    checkAnthropicFormat(body['output_config']) ??
    findFirstError(all, ({ blocks }, at) => checkContent(blocks, at, at === all.length - 1)) ??
    findFirstError(all, (message, at) => checkPairing(message, at, all)) ??
    checkUniqueIds(all)
  )
}

const ROLES = ['user', 'assistant', 'system']

/** Consecutive messages of one role are one message to the vendor. */
function mergeMessages(messages: readonly UnknownFields[]): MergedMessage[] {
  const all: MergedMessage[] = []
  for (const { role, content } of messages) {
    const blocks = toBlocks(content)
    const last = all.at(-1)
    if (last && last.role === role && last.blocks && blocks) last.blocks.push(...blocks)
    else all.push({ role: String(role), blocks })
  }
  return all
}

interface MergedMessage {
  readonly role: string
  readonly blocks: UnknownFields[] | undefined
}

function checkTools(body: UnknownFields, messages: readonly MergedMessage[]): string | undefined {
  const tools = body['tools'] === undefined ? [] : toObjectList(body['tools'])
  if (!tools) return 'tools: Input should be a valid list'
  const used = messages.some(({ blocks }) => blocks?.some(({ type }) => type === 'tool_use' || type === 'tool_result'))
  if (used && tools.length === 0) return 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
  const customTools = tools.filter(({ type }) => type === undefined || type === 'custom')
  const wrong = customTools.findIndex(({ name }) => !/^[\w-]{1,128}$/.test(String(name)))
  if (wrong >= 0) return `tools.${wrong}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`
  const schemaIndex = customTools.findIndex(
    ({ input_schema: schema }) => !isObject(schema) || schema['type'] !== 'object',
  )
  if (schemaIndex >= 0) return `tools.${schemaIndex}.custom.input_schema.type: Input should be 'object'`
  return findDuplicate(customTools.map(({ name }) => String(name))) && 'tools: Tool names must be unique.'
}

function checkContent(blocks: readonly UnknownFields[] | undefined, at: number, last: boolean): string | undefined {
  if (!blocks) return `messages.${at}.content: Input should be a valid list`
  if (blocks.length === 0 && !last)
    return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`
  return findFirstError(blocks, (block, blockIndex) => {
    const here = `messages.${at}.content.${blockIndex}`
    if (block['type'] === 'text' && !isNonBlankString(block['text']))
      return `${here}: text content blocks must be non-empty`
    if (block['type'] === 'thinking' && !isNonBlankString(block['signature']))
      return `${here}.thinking.signature: Field required`
    if (block['type'] !== 'tool_use') return undefined
    if (!/^[\w-]+$/.test(String(block['id'])))
      return `${here}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
    return isObject(block['input']) ? undefined : `${here}.tool_use.input: Input should be a valid dictionary`
  })
}

/** The results of all calls come first in the next message, and there are no other results. */
function checkPairing(message: MergedMessage, at: number, messages: readonly MergedMessage[]): string | undefined {
  const before = messages[at - 1]
  const previousCallIds = before?.role === 'assistant' ? collectIds(before, 'tool_use', 'id') : []
  const results = collectIds(message, 'tool_result', 'tool_use_id')
  const orphan = results.find((id) => message.role !== 'user' || !previousCallIds.includes(id))
  if (orphan !== undefined)
    return `messages.${at}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
  const duplicate = findDuplicate(results)
  if (duplicate !== undefined)
    return `messages.${at}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${duplicate}`
  const next = message.role === 'assistant' ? collectIds(messages[at + 1], 'tool_result', 'tool_use_id', true) : []
  const unanswered = collectIds(message, 'tool_use', 'id').filter((id) => !next.includes(id))
  if (unanswered.length === 0) return undefined
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unanswered.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
}

function checkUniqueIds(messages: readonly MergedMessage[]): string | undefined {
  const duplicate = findDuplicate(messages.flatMap((message) => collectIds(message, 'tool_use', 'id')))
  return duplicate && 'messages: `tool_use` ids must be unique'
}

/** `leading` stops at the first block of another type. */
function collectIds(message: MergedMessage | undefined, type: string, key: string, leading = false): string[] {
  const blocks = message?.blocks ?? []
  const end = leading ? blocks.findIndex((block) => block['type'] !== type) : -1
  return blocks
    .slice(0, end < 0 ? blocks.length : end)
    .flatMap((block) => (block['type'] === type ? [String(block[key])] : []))
}

function toBlocks(content: unknown): UnknownFields[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  const blocks = toObjectList(content)
  return blocks && [...blocks]
}
