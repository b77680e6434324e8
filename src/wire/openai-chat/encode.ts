import type { Warning } from '../../model/event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { Params, Request, ToolChoice } from '../../model/request.ts'
import { mediaUrl, resultMedia, resultText, wellFormed } from '../../model/text.ts'
import type { AssistantPart, MediaPart, ResultPart, TextPart } from '../../model/turn.ts'
import type { Projection } from '../../schema/project.ts'
import { declarationWarnings, declare } from '../declare.ts'
import { callAsText, describeTools, resultAsText } from '../text-tools.ts'
import { type Step, callText, freeText, ownData, type Place, transcript } from '../transcript.ts'
import type { Encoded } from '../wire.ts'

/** OpenAI takes ids of up to 40 characters (T97). */
const FORM = { legal: /^[\x21-\x7e]{1,40}$/ }

const WIRE = 'openai-chat'

interface Context {
  readonly profile: Profile
  readonly projection: Projection
}

/** Writes a chat completions request. The messages come last, so that a longer history extends the bytes of a shorter one. */
export function encode(request: Request, profile: Profile, place?: Place): Encoded {
  const projection = declare(request.tools, profile)
  const { steps, warnings } = transcript(request.turns, { wire: WIRE, profile, projection, form: FORM }, place)
  const native = profile.tools === 'native'
  const context = { profile, projection }
  const messages = [
    ...(place?.begun ? [] : system(request, context)),
    ...bridged(
      steps.flatMap((step) => message(step, context)),
      profile,
    ),
  ]
  const body: JsonObject = {
    model: request.model,
    ...settings(request.params ?? {}, profile, warnings),
    ...(profile.cache === 'key' && request.session !== undefined && { prompt_cache_key: request.session }),
    ...(native &&
      projection.tools.length > 0 && {
        ...choice(request.toolChoice, request.params, projection, warnings),
        tools: projection.tools.map(declaration),
      }),
    messages: profile.alternate ? alternate(messages) : messages,
  }
  for (const refused of profile.refuses) delete body[refused]
  return { body, warnings: [...warnings, ...declarationWarnings(projection)] }
}

function settings(params: Params, profile: Profile, warnings: Warning[]): JsonObject {
  const stream = params.stream ?? true
  const { effort } = params
  if (typeof effort === 'number')
    warnings.push({ code: 'effort', message: 'This wire knows no thinking budgets; it was left out.' })
  return {
    stream,
    ...(stream && profile.streamUsage && { stream_options: { include_usage: true } }),
    ...(params.maxTokens !== undefined && { [profile.maxTokensField]: params.maxTokens }),
    ...(params.temperature !== undefined && { temperature: params.temperature }),
    ...(params.topP !== undefined && { top_p: params.topP }),
    ...stops(params, warnings),
    ...(typeof effort === 'string' &&
      profile.thinking !== 'none' && { reasoning_effort: effort === 'off' ? 'none' : effort }),
  }
}

/** `auto` is left out, being the default everywhere and refused by some (T153); `parallel_tool_calls` goes only if asked for (T154). */
function choice(
  wanted: ToolChoice | undefined,
  params: Params | undefined,
  projection: Projection,
  warnings: Warning[],
): JsonObject {
  const parallel = params?.parallelCalls === undefined ? {} : { parallel_tool_calls: params.parallelCalls }
  const named = (name: string): JsonObject[] => {
    const tool = projection.tools.find((one) => one.original === name)
    if (!tool) warnings.push({ code: 'tool-choice', message: `${name} cannot be chosen: it is not declared.` })
    const type = tool?.freeform ? 'custom' : 'function'
    return tool ? [{ type, [type]: { name: tool.name } }] : []
  }
  if (wanted === undefined || wanted === 'auto') return parallel
  if (typeof wanted === 'string') return { ...parallel, tool_choice: wanted }
  if ('name' in wanted) {
    const [chosen] = named(wanted.name)
    return chosen ? { ...parallel, tool_choice: chosen } : parallel
  }
  const tools = wanted.only.flatMap(named)
  if (tools.length === 0) return { ...parallel, tool_choice: 'none' }
  return { ...parallel, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } } }
}

/** An empty list and an empty word are refused, and so are more than four words (T155). */
function stops({ stop = [] }: Params, warnings: Warning[]): JsonObject {
  const words = stop.filter((word) => word !== '')
  if (words.length > MAX_STOPS)
    warnings.push({ code: 'stop', message: `Only the first ${MAX_STOPS} stop sequences were sent.` })
  return words.length > 0 ? { stop: words.slice(0, MAX_STOPS) } : {}
}

const MAX_STOPS = 4

function declaration(tool: Projection['tools'][number]): JsonObject {
  if (tool.freeform) return { type: 'custom', custom: { name: tool.name, description: tool.description } }
  const strict = tool.strict === undefined ? {} : { strict: tool.strict }
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.schema, ...strict },
  }
}

/** One system message at the start, and never another (T101). */
function system(request: Request, { profile, projection }: Context): JsonObject[] {
  const tools = profile.tools === 'text' && projection.tools.length > 0 ? describeTools(projection.tools) : ''
  const text = wellFormed([request.system ?? '', tools].filter((part) => part.trim() !== '').join('\n\n'))
  if (text === '') return []
  const marked = [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]
  return [{ role: profile.systemRole, content: profile.cache === 'marks' ? marked : text }]
}

function message(step: Step, context: Context): JsonObject[] {
  if (step.kind === 'user') return [{ role: 'user', content: said(step.parts, context.profile) }]
  if (context.profile.tools === 'text') return textMessages(step, context)
  const results = step.exchanges.map(({ call, id, result }) => ({
    role: 'tool',
    tool_call_id: id,
    ...(context.profile.resultName && { name: context.projection.wireName(call.name) }),
    content: answer(result),
  }))
  return [assistant(step, context), ...results, ...attachments(step, context.profile)]
}

function assistant(step: Step & { kind: 'assistant' }, { profile, projection }: Context): JsonObject {
  const calls = step.exchanges.map(({ call, id }): JsonObject => {
    const extra = ownData(call, { wire: WIRE, profile })?.['extra_content']
    const name = projection.wireName(call.name)
    const free = freeText(call, { wire: WIRE, profile, projection })
    return free !== undefined
      ? { id, type: 'custom', custom: { name, input: free } }
      : {
          id,
          type: 'function',
          function: { name, arguments: callText(call, projection) },
          ...(extra !== undefined && { extra_content: extra }),
        }
  })
  const text = written(step.parts, profile)
  const content = text !== '' || calls.length === 0 ? { content: text } : EMPTY[profile.emptyContent]
  return {
    role: 'assistant',
    ...content,
    ...reasoning(step.parts, profile),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** What stands for content beside calls; endpoints contradict each other here (T86). */
const EMPTY: Record<Profile['emptyContent'], JsonObject> = { null: { content: null }, empty: { content: '' }, omit: {} }

/** The visible text of a turn; where the endpoint wrote its thoughts into the text, the text as it came (T79). */
function written(parts: readonly AssistantPart[], profile: Profile): string {
  const texts = parts.flatMap((part) => {
    const whole = ownData(part, { wire: WIRE, profile })?.['content']
    if (typeof whole === 'string') return [whole]
    if (part.kind === 'text' && part.text.trim() !== '') return [wellFormed(part.text)]
    return part.kind === 'media' ? [`(${part.mime} was shown here)`] : []
  })
  return texts.join('\n\n')
}

/** Reasoning goes back to its own endpoint, under the field in which it came (T74, T76, T77). */
function reasoning(parts: readonly AssistantPart[], profile: Profile): JsonObject {
  const fields: JsonObject = profile.needsReasoning ? { [profile.needsReasoning]: '' } : {}
  if (profile.replay === 'never') return fields
  for (const part of parts) {
    const data = part.kind === 'reasoning' ? ownData(part, { wire: WIRE, profile }) : undefined
    if (!data) continue
    if (typeof data['field'] === 'string') fields[data['field']] = wellFormed((part as { text: string }).text)
    if (data['details'] !== undefined) fields['reasoning_details'] = data['details']
  }
  return fields
}

/** Plain text as a plain string (T87); with media a list of parts. */
function said(parts: readonly (TextPart | MediaPart)[], profile: Profile): Json {
  if (parts.every((part) => part.kind === 'text')) return wellFormed(parts.map((part) => part.text).join('\n'))
  return parts.map((part) =>
    part.kind === 'text' ? { type: 'text', text: wellFormed(part.text) } : media(part, profile),
  )
}

function media(part: MediaPart, profile: Profile): JsonObject {
  const name = wellFormed(part.name ?? 'file')
  const named = part.name === undefined ? part.mime : `${name} (${part.mime})`
  if (!profile.media) return { type: 'text', text: `(${named} was left out: this model takes text only)` }
  const url = mediaUrl(part)
  if (url === undefined) return { type: 'text', text: `(${named} is empty)` }
  if (PICTURE.test(part.mime)) return { type: 'image_url', image_url: { url } }
  if (part.mime.startsWith('image/'))
    return { type: 'text', text: `(${named} was left out: it cannot be shown to this model)` }
  const format = AUDIO[part.mime]
  if (format !== undefined && part.data) return { type: 'input_audio', input_audio: { data: part.data, format } }
  if (url.startsWith('data:')) return { type: 'file', file: { filename: name, file_data: url } }
  return { type: 'text', text: `(${named} at ${url})` }
}

/** Another kind of picture would cost the whole request, and all that follow (T100). */
const PICTURE = /^image\/(?:png|jpe?g|gif|webp|\*)$/

const AUDIO: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

function answer(result: ResultPart): string {
  const text = resultText(result)
  return result.status === 'error' && !/^error/i.test(text) ? `Error: ${text}` : text
}

/** A tool message takes only text, so media follow in a user message after all of them (T100). */
function attachments(step: Step & { kind: 'assistant' }, profile: Profile): JsonObject[] {
  const parts = step.exchanges.flatMap(({ call, result }) => {
    const found = resultMedia(result)
    return found.length === 0
      ? []
      : [{ type: 'text', text: `From ${call.name}:` }, ...found.map((one) => media(one, profile))]
  })
  return parts.length > 0 ? [{ role: 'user', content: parts }] : []
}

/** A model without native calls reads its own calls and their results as text, in the form in which it is asked to write them. */
function textMessages(step: Step & { kind: 'assistant' }, { profile, projection }: Context): JsonObject[] {
  const calls = step.exchanges.map(({ call }) => callAsText(projection.wireName(call.name), callText(call, projection)))
  const texts = [written(step.parts, profile), ...calls].filter((text) => text !== '')
  const assistantMessage = { role: 'assistant', content: texts.join('\n'), ...reasoning(step.parts, profile) }
  const results = step.exchanges.map(({ call, result }) =>
    resultAsText(projection.wireName(call.name), resultText(result), result.status),
  )
  if (results.length === 0) return [assistantMessage]
  return [assistantMessage, { role: 'user', content: results.join('\n') }, ...attachments(step, profile)]
}

/** Some templates refuse a user message right after a tool message (T94). */
function bridged(messages: JsonObject[], profile: Profile): JsonObject[] {
  if (!profile.bridge) return messages
  return messages.flatMap((one, at) => {
    const afterTool = one['role'] === 'user' && messages[at - 1]?.['role'] === 'tool'
    return afterTool ? [{ role: 'assistant', content: 'Understood.', ...reasoning([], profile) }, one] : [one]
  })
}

/** Some templates refuse two user messages in a row (T93). */
function alternate(messages: JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const one of messages) {
    const last = merged.at(-1)
    if (last?.['role'] === 'user' && one['role'] === 'user') last['content'] = joined(last['content'], one['content'])
    else merged.push({ ...one })
  }
  return merged
}

function joined(first: Json | undefined, second: Json | undefined): Json {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n${second}`
  const parts = (content: Json | undefined) =>
    Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }]
  return [...parts(first), ...parts(second)]
}
