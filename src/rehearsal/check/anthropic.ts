import { isObject } from '../../model/json.ts'
import { type Fields, firstOf, objects, says, twice } from './fields.ts'

/** What Anthropic's messages would refuse. */
export function checkAnthropic(body: Fields): string | undefined {
  if (typeof body['max_tokens'] !== 'number') return 'max_tokens: Field required'
  const messages = objects(body['messages'])
  if (!messages || messages.length === 0) return 'messages: at least one message is required'
  const wrong = messages.findIndex(({ role }) => role !== 'user' && role !== 'assistant')
  if (wrong >= 0) return `messages.${wrong}.role: Input should be 'user' or 'assistant'`
  if (messages[0]?.['role'] !== 'user') return 'messages: first message must use the "user" role'
  const all = merged(messages)
  return (
    checkTools(body, all) ??
    firstOf(all, ({ blocks }, at) => checkContent(blocks, at, at === all.length - 1)) ??
    firstOf(all, (message, at) => paired(message, at, all)) ??
    unique(all)
  )
}

/** What one side says in a row is one message to the vendor. */
function merged(messages: readonly Fields[]): Message[] {
  const all: Message[] = []
  for (const { role, content } of messages) {
    const blocks = blocksOf(content)
    const last = all.at(-1)
    if (last && last.role === role && last.blocks && blocks) last.blocks.push(...blocks)
    else all.push({ role: String(role), blocks })
  }
  return all
}

interface Message {
  readonly role: string
  readonly blocks: Fields[] | undefined
}

function checkTools(body: Fields, messages: readonly Message[]): string | undefined {
  const tools = body['tools'] === undefined ? [] : objects(body['tools'])
  if (!tools) return 'tools: Input should be a valid list'
  const used = messages.some(({ blocks }) => blocks?.some(({ type }) => type === 'tool_use' || type === 'tool_result'))
  if (used && tools.length === 0) return 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
  const own = tools.filter(({ type }) => type === undefined || type === 'custom')
  const wrong = own.findIndex(({ name }) => !/^[\w-]{1,128}$/.test(String(name)))
  if (wrong >= 0) return `tools.${wrong}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`
  const loose = own.findIndex(({ input_schema: schema }) => !isObject(schema) || schema['type'] !== 'object')
  if (loose >= 0) return `tools.${loose}.custom.input_schema.type: Input should be 'object'`
  return twice(own.map(({ name }) => String(name))) && 'tools: Tool names must be unique.'
}

function checkContent(blocks: readonly Fields[] | undefined, at: number, last: boolean): string | undefined {
  if (!blocks) return `messages.${at}.content: Input should be a valid list`
  if (blocks.length === 0 && !last)
    return `messages.${at}: all messages must have non-empty content except for the optional final assistant message`
  return firstOf(blocks, (block, place) => {
    const here = `messages.${at}.content.${place}`
    if (block['type'] === 'text' && !says(block['text'])) return `${here}: text content blocks must be non-empty`
    if (block['type'] === 'thinking' && !says(block['signature'])) return `${here}.thinking.signature: Field required`
    if (block['type'] !== 'tool_use') return undefined
    if (!/^[\w-]+$/.test(String(block['id'])))
      return `${here}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`
    return isObject(block['input']) ? undefined : `${here}.tool_use.input: Input should be a valid dictionary`
  })
}

/** The results of all calls come first in the very next message, and nothing else is a result. */
function paired(message: Message, at: number, messages: readonly Message[]): string | undefined {
  const before = messages[at - 1]
  const made = before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : []
  const results = idsOf(message, 'tool_result', 'tool_use_id')
  const orphan = results.find((id) => message.role !== 'user' || !made.includes(id))
  if (orphan !== undefined)
    return `messages.${at}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
  const again = twice(results)
  if (again !== undefined)
    return `messages.${at}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${again}`
  const next = message.role === 'assistant' ? idsOf(messages[at + 1], 'tool_result', 'tool_use_id', true) : []
  const open = idsOf(message, 'tool_use', 'id').filter((id) => !next.includes(id))
  if (open.length === 0) return undefined
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
}

function unique(messages: readonly Message[]): string | undefined {
  const again = twice(messages.flatMap((message) => idsOf(message, 'tool_use', 'id')))
  return again && 'messages: `tool_use` ids must be unique'
}

/** The ids of the blocks of one type; `leading` stops at the first block of another type. */
function idsOf(message: Message | undefined, type: string, key: string, leading = false): string[] {
  const blocks = message?.blocks ?? []
  const end = leading ? blocks.findIndex((block) => block['type'] !== type) : -1
  return blocks
    .slice(0, end < 0 ? blocks.length : end)
    .flatMap((block) => (block['type'] === type ? [String(block[key])] : []))
}

function blocksOf(content: unknown): Fields[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  const blocks = objects(content)
  return blocks && [...blocks]
}
