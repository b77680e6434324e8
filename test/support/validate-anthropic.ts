import { isObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import {
  type Fields,
  type Refuse,
  declarations,
  historicName,
  isText,
  list,
  onlyKeys,
  paired,
  uniqueIds,
} from './validate-shape.ts'

const NAME = /^[A-Za-z0-9_-]{1,128}$/

/** What the Messages API would refuse. */
export function validateAnthropic(body: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(body, PARAMETERS, refuse, 'body')
  const messages = list(body['messages'])
  const blocks = messages.flatMap((message) => list(message['content']))
  tools(body, blocks, profile, refuse)
  thinking(body, messages, profile, refuse)
  uniqueIds(
    blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id),
    /^[a-zA-Z0-9_-]{1,64}$/,
    refuse,
  )
  for (const [at, message] of messages.entries()) {
    const where = `message ${at}`
    onlyKeys(message, 'role content', refuse, where)
    if (message['role'] !== (at % 2 === 0 ? 'user' : 'assistant'))
      refuse('T93 the roles do not alternate, beginning with the user', where)
    const content = list(message['content'])
    if (content.length === 0) refuse('T136 an empty message', where)
    for (const block of content) (BLOCKS[String(message['role'])] ?? assistant)(block, profile, refuse)
    if (message['role'] === 'assistant') answered(content, list(messages[at + 1]?.['content']), refuse, where)
    else unasked(content, list(messages[at - 1]?.['content']), refuse, where)
  }
  serverTools(messages, refuse)
  ending(messages.at(-1), refuse)
  marks(body, profile, refuse)
}

const PARAMETERS =
  'model max_tokens temperature top_p stop_sequences stream thinking output_config tools tool_choice system ' +
  'cache_control messages'

/** The results stand first in the very next message, each once, in the order of the calls (T91). */
function answered(content: readonly Fields[], next: readonly Fields[], refuse: Refuse, where: string): void {
  const calls = content.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
  const head = next.slice(0, calls.length).map((block) => block['tool_use_id'])
  paired(calls, head, refuse, where)
  if (isThinking(content.at(-1))) refuse('T80 an answer that ends in thinking', where)
}

function unasked(content: readonly Fields[], before: readonly Fields[], refuse: Refuse, where: string): void {
  const results = content.filter(({ type }) => type === 'tool_result').length
  const calls = before.filter(({ type }) => type === 'tool_use').length
  if (results !== calls) refuse('T89 results that answer nothing, or too few', where)
}

/** Only an answer that paused in the middle of a tool of the server goes back as the last word (T102, T135). */
function ending(last: Fields | undefined, refuse: Refuse): void {
  if (last?.['role'] === 'user') return
  const uses = list(last?.['content']).some(
    ({ type }) => type === 'server_tool_use' || String(type).endsWith('_tool_result'),
  )
  if (!uses) refuse('T102 ends with the assistant')
}

/** A use of a server's tool and its result go together, in order; the last answer may still wait for it (T137). */
function serverTools(messages: readonly Fields[], refuse: Refuse): void {
  const answers = messages.filter(({ role }) => role === 'assistant').map(({ content }) => list(content))
  for (const [at, blocks] of answers.entries()) {
    const uses = (some: readonly Fields[]) => some.filter(({ type }) => type === 'server_tool_use').map(({ id }) => id)
    const results = (some: readonly Fields[]) =>
      some
        .filter(({ type }) => type !== 'tool_result' && String(type).endsWith('_tool_result'))
        .map((one) => one['tool_use_id'])
    const later = results([...blocks, ...(answers[at + 1] ?? [])])
    const earlier = uses([...(answers[at - 1] ?? []), ...blocks])
    for (const id of uses(blocks))
      if (!later.includes(id) && at < answers.length - 1) refuse('T137 a server tool without its result', String(id))
    for (const id of results(blocks))
      if (!earlier.includes(id)) refuse('T137 a result without its server tool', String(id))
  }
}

type Check = (block: Fields, profile: Profile, refuse: Refuse) => void

function user(block: Fields, profile: Profile, refuse: Refuse): void {
  const { type } = block
  if (type === 'text') return text(block, refuse)
  if (type === 'image' || type === 'document') return media(block, profile, refuse)
  if (type !== 'tool_result') return refuse('a block that no user sends', String(type))
  if (profile.tools === 'text') refuse('a result for a model without calls')
  onlyKeys(block, 'type tool_use_id content is_error cache_control', refuse, 'tool_result')
  if (String(block['tool_use_id']).startsWith('srvtoolu_')) refuse('T137 answers a tool of the server')
  const { content } = block
  if (typeof content === 'string') return isText(content) ? undefined : refuse('T99 an empty result')
  if (list(content).length === 0) refuse('T99 an empty result')
  for (const inside of list(content)) {
    if (inside['type'] === 'text') text(inside, refuse)
    else if (block['is_error'] === true) refuse('T100 a failure that shows media')
    else media(inside, profile, refuse)
  }
}

function assistant(block: Fields, profile: Profile, refuse: Refuse): void {
  const { type } = block
  if (type === 'text') text(block, refuse)
  else if (type === 'tool_use') {
    if (profile.tools === 'text') refuse('a call for a model without calls')
    onlyKeys(block, 'type id name input caller cache_control', refuse, 'tool_use')
    historicName(block['name'], NAME, refuse)
    if (!isObject(block['input'])) refuse('T40 the input is no object')
  } else if (isThinking(block)) {
    if (profile.replay === 'never') refuse('T78 thinking')
    const sealed = type === 'redacted_thinking' ? block['data'] : block['signature']
    if (!isText(sealed) && profile.signatures === 'required') refuse('T81 thinking that is not signed')
    if (type === 'thinking' && !isText(block['thinking']) && !isText(sealed)) refuse('T136 empty thinking')
  } else if (type !== 'server_tool_use' && !String(type).endsWith('_tool_result'))
    refuse('a block that no model sends', String(type))
}

const BLOCKS: Record<string, Check> = { user, assistant }

function isThinking(block: Fields | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking'
}

function text(block: Fields, refuse: Refuse): void {
  onlyKeys(block, 'type text citations cache_control', refuse, 'text')
  if (!isText(block['text'])) refuse('T136 an empty text')
}

function media(block: Fields, profile: Profile, refuse: Refuse): void {
  const { type, source } = block
  if (!isObject(source)) return refuse('T100 media without a source')
  if (!profile.media) refuse('T100 media for a model that takes none')
  const mime = String(source['media_type'])
  const legal = type === 'image' ? /^image\/(?:jpeg|png|gif|webp)$/ : /^application\/pdf$/
  if (source['type'] === 'base64' && (!legal.test(mime) || !isText(source['data'])))
    refuse('T100 media that are empty or of no known kind', mime)
  if (source['type'] === 'url' && !/^https?:\/\/./.test(String(source['url']))) refuse('T100 media that are nowhere')
}

/** Thinking forbids force and sampling (T83), fits into the answer (T155), and is not taken from a call under way (T80). */
function thinking(body: Fields, messages: readonly Fields[], profile: Profile, refuse: Refuse): void {
  const given = isObject(body['thinking']) ? body['thinking'] : {}
  const stop = body['stop_sequences']
  if (stop !== undefined && !(Array.isArray(stop) && stop.length > 0 && stop.every(isText))) refuse('T155 stop')
  const limit = Number(body['max_tokens'])
  if (!Number.isInteger(limit) || limit < 1) refuse('T155 max_tokens')
  if (given['type'] !== 'enabled' && given['type'] !== 'adaptive') return
  const choice = isObject(body['tool_choice']) ? body['tool_choice']['type'] : 'auto'
  if (choice !== 'auto' && choice !== 'none') refuse('T83 thinking and a forced call')
  if (Object.hasOwn(body, 'temperature') || Object.hasOwn(body, 'top_p')) refuse('T83 thinking and sampling')
  if (given['type'] === 'adaptive') return
  const budget = Number(given['budget_tokens'])
  if (!(budget >= 1024 && budget < limit)) refuse('T155 the budget does not fit', `${budget} of ${limit}`)
  if (profile.signatures !== 'required' || profile.replay === 'never') return
  // From the last words of the user on, an answer whose calls are being answered must begin with thinking.
  const spoke = messages.findLastIndex(
    ({ role, content }) => role === 'user' && list(content).some(({ type }) => type !== 'tool_result'),
  )
  const first = messages.slice(spoke + 1).find(({ role }) => role === 'assistant')
  if (first && !isThinking(list(first['content'])[0])) refuse('T80 a call under way without its thinking')
}

function tools(body: Fields, blocks: readonly Fields[], profile: Profile, refuse: Refuse): void {
  const used = blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result')
  const choice = body['tool_choice']
  if (!Object.hasOwn(body, 'tools')) {
    if (used) refuse('T98 calls in the history, and no tools')
    return choice === undefined ? undefined : refuse('T98 tool_choice without tools')
  }
  if (profile.tools === 'text') refuse('tools for a model without calls')
  const given = list(body['tools'])
  for (const tool of given)
    onlyKeys(tool, 'name description input_schema strict eager_input_streaming cache_control', refuse, 'tool')
  const names = declarations(
    given.map(({ name, description, input_schema: schema }) => ({ name, description, schema: schema ?? null })),
    { names: NAME, object: 'object', keys: /^[a-zA-Z0-9_.-]{1,64}$/ },
    refuse,
  )
  if (choice === undefined) return
  if (!isObject(choice)) return refuse('T153 tool_choice')
  if (choice['type'] === 'tool' && !names.has(String(choice['name']))) refuse('T153 chooses what is not declared')
  if (choice['type'] === 'none' && Object.hasOwn(choice, 'disable_parallel_tool_use'))
    refuse('T154 none, and not parallel')
}

/** Four marks are the most; none stands on thinking or on nothing (T136). */
function marks(body: Fields, profile: Profile, refuse: Refuse): void {
  const count = JSON.stringify(body).split('"cache_control"').length - 1
  if (count > 4) refuse('more than four cache marks', String(count))
  if (count > 0 && profile.cache !== 'auto' && profile.cache !== 'marks') refuse('unasked cache marks')
}
