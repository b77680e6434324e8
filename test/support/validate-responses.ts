import { isObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import { argumentsFit } from './validate-chat.ts'
import {
  type Fields,
  OPENAI_NAME,
  type Refuse,
  declarations,
  historicName,
  isText,
  list,
  onlyKeys,
  paired,
  uniqueIds,
} from './validate-shape.ts'

/** What the Responses API would refuse from a client that keeps nothing on the server. */
export function validateResponses(body: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(body, PARAMETERS, refuse, 'body')
  tools(body, profile, refuse)
  const limit = body['max_output_tokens']
  if (limit !== undefined && Number(limit) < 16) refuse('T155 too small a limit')
  if (profile.encryptedReasoning !== (JSON.stringify(body['include']) === '["reasoning.encrypted_content"]'))
    refuse('T84 include')
  if (body['instructions'] !== undefined && !isText(body['instructions'])) refuse('T136 empty instructions')
  const input = list(body['input'])
  for (const item of input) (ITEMS[String(item['type'])] ?? vendorItem)(item, profile, refuse)
  const types = input.map((item) => String(item['type']))
  if (profile.tools === 'text' && types.some((type) => CALLS.has(type))) refuse('a call for a model without calls')
  pairs(input, refuse)
  thoughts(input, refuse)
  const last = input.at(-1)
  if (last?.['role'] === 'assistant' || (last && !OUTPUTS.has(String(last['type'])) && last['role'] !== 'user'))
    refuse('T102 ends with the assistant', String(last['type']))
}

const PARAMETERS =
  'model instructions tools tool_choice parallel_tool_calls reasoning temperature top_p max_output_tokens include ' +
  'store stream prompt_cache_key previous_response_id input'

const CALLS = new Map([
  ['function_call', 'function_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
])
const OUTPUTS = new Set(CALLS.values())

/** The outputs come right after the items of the answer that called, in the order of the calls, and of their kind. */
function pairs(input: readonly Fields[], refuse: Refuse): void {
  uniqueIds(
    input.filter((item) => CALLS.has(String(item['type']))).map((item) => item['call_id']),
    /^[A-Za-z0-9_-]{1,64}$/,
    refuse,
  )
  let open: string[] = []
  for (const [at, item] of input.entries()) {
    const type = String(item['type'])
    const awaited = CALLS.get(type)
    if (awaited !== undefined) open.push(`${awaited} ${String(item['call_id'])}`)
    else if (OUTPUTS.has(type)) {
      paired([open.shift()], [`${type} ${String(item['call_id'])}`], refuse, `item ${at}`)
      const next = CALLS.has(String(input[at + 1]?.['type'])) || input[at + 1]?.['type'] === 'reasoning'
      if (open.length > 0 && next) refuse('T91 another answer among the outputs', `item ${at}`)
    } else if (item['role'] === 'user' && open.length > 0) {
      refuse('T88 the user speaks before all calls are answered', `item ${at}`)
      open = []
    }
  }
  if (open.length > 0) refuse('T88 calls without an output', open.join(', '))
}

/** A thought is followed by what it led to, in the same answer (T84). */
function thoughts(input: readonly Fields[], refuse: Refuse): void {
  for (const [at, item] of input.entries()) {
    if (item['type'] !== 'reasoning') continue
    const next = input.slice(at + 1).find((one) => one['type'] !== 'reasoning')
    if (!next || next['role'] === 'user' || OUTPUTS.has(String(next['type'])))
      refuse('T84 a thought without its following item', `item ${at}`)
  }
}

type Check = (item: Fields, profile: Profile, refuse: Refuse) => void

function message(item: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(item, 'type role content phase', refuse, 'message')
  if (item['role'] === 'assistant')
    return isText(item['content']) ? undefined : refuse('T85 an answer that says nothing')
  if (item['role'] !== 'user') refuse('T101 a role in the middle', String(item['role']))
  said(item['content'], profile, refuse)
}

function said(content: unknown, profile: Profile, refuse: Refuse): void {
  if (list(content).length === 0) refuse('T85 an empty message')
  for (const part of list(content)) {
    if (part['type'] === 'input_text') {
      if (!isText(part['text'])) refuse('T136 an empty text')
    } else if (!profile.media) refuse('T100 media for a model that takes none')
    else if (part['type'] === 'input_image') {
      const url = String(part['image_url'])
      if (!/^(?:data:image\/(?:png|jpeg|gif|webp);base64,.|https?:\/\/.)/.test(url))
        refuse('T100 a picture that is not there', url)
    } else if (part['type'] === 'input_file') {
      const there = /^data:[^,]+,./.test(String(part['file_data'])) || isText(part['file_url'])
      if (!there) refuse('T100 an empty file')
    } else refuse('T100 media of no kind', String(part['type']))
  }
}

function call(item: Fields, _profile: Profile, refuse: Refuse): void {
  historicName(item['name'], OPENAI_NAME, refuse)
  const free = item['type'] === 'custom_tool_call'
  onlyKeys(item, `type call_id name namespace caller ${free ? 'input' : 'arguments'}`, refuse, 'call')
  if (!free && !argumentsFit(item['arguments'])) refuse('T40 arguments that are no object', String(item['arguments']))
  if (free && typeof item['input'] !== 'string') refuse('T30 no input')
}

function output(item: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(item, 'type call_id output caller', refuse, 'output')
  if (typeof item['output'] === 'string') return isText(item['output']) ? undefined : refuse('T99 an empty output')
  said(item['output'], profile, refuse)
}

function reasoning(item: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(item, 'type summary content encrypted_content format', refuse, 'reasoning')
  if (profile.replay === 'never') refuse('T78 reasoning')
  if (!isText(item['encrypted_content'])) refuse('T84 a thought that is not sealed')
  if (!Array.isArray(item['summary'])) refuse('T84 a thought without a summary')
}

/** Anything else is the vendor's own, and was judged by the foreign marks. */
function vendorItem(item: Fields, _profile: Profile, refuse: Refuse): void {
  if (!String(item['type']).endsWith('_call')) refuse('an item of no kind', String(item['type']))
}

const ITEMS: Record<string, Check> = {
  message,
  function_call: call,
  custom_tool_call: call,
  function_call_output: output,
  custom_tool_call_output: output,
  reasoning,
}

function tools(body: Fields, profile: Profile, refuse: Refuse): void {
  if (!Object.hasOwn(body, 'tools')) {
    for (const key of ['tool_choice', 'parallel_tool_calls'])
      if (Object.hasOwn(body, key)) refuse(`T98 ${key} without tools`)
    return
  }
  if (profile.tools === 'text') refuse('tools for a model without calls')
  const given = list(body['tools'])
  const names = declarations(
    given.map(({ name, description, parameters: schema }) => ({ name, description, schema })),
    { names: OPENAI_NAME, object: 'object' },
    refuse,
  )
  for (const tool of given)
    if (tool['type'] === 'function' && typeof tool['strict'] !== 'boolean') refuse('T144 strict is not said')
  const custom = new Set(given.filter((tool) => tool['type'] === 'custom').map((tool) => String(tool['name'])))
  const choice = body['tool_choice']
  if (choice === undefined || choice === 'none' || choice === 'required') return
  const allowed = isObject(choice) && choice['type'] === 'allowed_tools' ? list(choice['tools']) : [choice as Fields]
  if (allowed.length === 0) refuse('T153 nothing is allowed')
  for (const { type, name } of allowed) {
    if (!names.has(String(name))) refuse('T153 chooses what is not declared', String(name))
    if ((type === 'custom') !== custom.has(String(name))) refuse('T153 chooses a tool as what it is not', String(name))
  }
}
