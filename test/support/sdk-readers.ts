import { Anthropic } from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { OpenAI } from 'openai'
import { isObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'

/** A call as an SDK hands it to its caller. */
export interface SdkCall {
  readonly name: string
  readonly args: unknown
}

/** What an SDK made of a stream: its calls, where it says that the answer ended well; or that it cannot read it. */
export type SdkReading = { readonly calls: readonly SdkCall[] } | { readonly cannot: string }

/** How long an SDK may take. */
const PATIENCE = 5000

type Reader = (base: string) => Promise<readonly SdkCall[]>

/** The ways in which an SDK lets its caller read a stream: as a whole, or piece by piece, put together as its manual says. */
export type SdkWay =
  | 'openai chat'
  | 'openai chat chunks'
  | 'openai responses'
  | 'openai responses events'
  | 'genai'
  | 'genai interactions'
  | 'anthropic'

/** The ways to read a wire. None of the SDKs speaks Code Assist. */
export const WAYS: Record<WireId, readonly SdkWay[]> = {
  'openai-chat': ['openai chat', 'openai chat chunks'],
  'openai-responses': ['openai responses', 'openai responses events'],
  gemini: ['genai'],
  interactions: ['genai interactions'],
  'code-assist': [],
  anthropic: ['anthropic'],
}

/** Reads the stream at an address with the real SDK. */
export async function readWithSdk(way: SdkWay, base: string): Promise<SdkReading> {
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error('it did not end')), PATIENCE)
    })
    const calls = await Promise.race([READERS[way](base), late])
    const broken = calls.find(({ name, args }) => name === '' || !isObject(args))
    return broken ? { cannot: `the arguments of ${broken.name} are no object` } : { calls }
  } catch (error) {
    return { cannot: error instanceof Error ? error.message : String(error) }
  } finally {
    clearTimeout(timer)
  }
}

const READERS: Record<SdkWay, Reader> = {
  'openai chat': chat,
  'openai chat chunks': chatChunks,
  'openai responses': responses,
  'openai responses events': responseEvents,
  genai: gemini,
  'genai interactions': interactions,
  anthropic,
}

const ASKED = [{ role: 'user' as const, content: 'x' }]

function openAi(base: string): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: base, maxRetries: 0 })
}

async function chat(base: string): Promise<SdkCall[]> {
  const stream = openAi(base).chat.completions.stream({ model: 'm', messages: ASKED })
  const { choices } = await stream.finalChatCompletion()
  return choices.flatMap(({ message, finish_reason: finish }) => {
    if (!ENDED_WELL.has(finish)) return []
    const older = message.function_call ? [message.function_call] : []
    const made = (message.tool_calls ?? []).map((call) => (call.type === 'function' ? call.function : undefined))
    return [...older, ...made].map((call) => ({ name: call?.name ?? '', args: parsed(call?.arguments ?? '') }))
  })
}

const ENDED_WELL = new Set(['stop', 'tool_calls', 'function_call'])

/** As OpenAI's guide to function calling puts streamed calls together: by index, the first piece as it is, of others the arguments. */
async function chatChunks(base: string): Promise<SdkCall[]> {
  const calls: Record<number, { name: string; text: string }> = {}
  let finish: string | null | undefined
  for await (const chunk of await openAi(base).chat.completions.create({ model: 'm', messages: ASKED, stream: true })) {
    const choice = chunk.choices[0]
    for (const { index, function: piece } of choice?.delta.tool_calls ?? []) {
      const known = calls[index]
      if (known) known.text += piece?.arguments ?? ''
      else calls[index] = { name: piece?.name ?? '', text: piece?.arguments ?? '' }
    }
    finish = choice?.finish_reason ?? finish
  }
  if (!ENDED_WELL.has(finish ?? '')) return []
  return Object.values(calls).map(({ name, text }) => ({ name, args: parsed(text) }))
}

async function responses(base: string): Promise<SdkCall[]> {
  const { output, status } = await openAi(base).responses.stream({ model: 'm', input: 'x' }).finalResponse()
  if (status !== 'completed') return []
  return output.flatMap((item) => {
    if (item.type === 'custom_tool_call') return [{ name: item.name, args: { input: item.input } }]
    return item.type === 'function_call' ? [{ name: item.name, args: parsed(item.arguments) }] : []
  })
}

/** As OpenAI's guide puts the events together: a call when it is added, by its place, then its deltas; and the whole item counts. */
async function responseEvents(base: string): Promise<SdkCall[]> {
  const calls: Record<number, { name: string; text: string }> = {}
  let completed = false
  for await (const event of await openAi(base).responses.create({ model: 'm', input: 'x', stream: true })) {
    if (event.type === 'response.output_item.added' && event.item.type === 'function_call')
      calls[event.output_index] = { name: event.item.name, text: event.item.arguments ?? '' }
    else if (event.type === 'response.function_call_arguments.delta') {
      const known = calls[event.output_index]
      if (known) known.text += event.delta
    } else if (event.type === 'response.output_item.done') {
      const { item } = event
      if (item.type === 'function_call') calls[event.output_index] = { name: item.name, text: item.arguments }
      if (item.type === 'custom_tool_call')
        calls[event.output_index] = { name: item.name, text: JSON.stringify({ input: item.input }) }
    }
    completed ||= event.type === 'response.completed'
  }
  return completed ? Object.values(calls).map(({ name, text }) => ({ name, args: parsed(text) })) : []
}

async function gemini(base: string): Promise<SdkCall[]> {
  const httpOptions = { baseUrl: base, timeout: PATIENCE, retryOptions: { attempts: 1 } }
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions })
  const calls: SdkCall[] = []
  let finish: string | undefined
  for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'x' })) {
    for (const { name, args } of chunk.functionCalls ?? []) calls.push({ name: name ?? '', args: args ?? {} })
    finish = chunk.candidates?.[0]?.finishReason ?? finish
  }
  return finish === 'STOP' ? calls : []
}

/** As Google's guide puts the events together: a call when its step starts, by its index, then the deltas of its arguments. */
async function interactions(base: string): Promise<SdkCall[]> {
  const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: base, timeout: PATIENCE } })
  const calls: Record<number, { name: string; text: string; given: unknown }> = {}
  let status: string | undefined
  const asked = { model: 'm', input: 'x', stream: true, automatic_continuation: false } as const
  for await (const event of await client.interactions.create(asked, { maxRetries: 0 })) {
    if (event.event_type === 'step.start' && event.step.type === 'function_call')
      calls[event.index] = { name: event.step.name, text: '', given: event.step.arguments }
    else if (event.event_type === 'step.delta' && event.delta.type === 'arguments_delta') {
      const known = calls[event.index]
      if (known) known.text += event.delta.arguments ?? ''
    } else if (event.event_type === 'interaction.completed') status = event.interaction.status
    else if (event.event_type === 'error') throw new Error(event.error?.message)
  }
  if (status !== 'completed' && status !== 'requires_action') return []
  return Object.values(calls).map(({ name, text, given }) => ({ name, args: text === '' ? given : parsed(text) }))
}

async function anthropic(base: string): Promise<SdkCall[]> {
  const client = new Anthropic({ apiKey: 'none', baseURL: base, maxRetries: 0 })
  const stream = client.messages.stream({ model: 'm', max_tokens: 1024, messages: ASKED })
  const { content, stop_reason: stop } = await stream.finalMessage()
  if (stop !== 'tool_use' && stop !== 'end_turn' && stop !== 'stop_sequence') return []
  return content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, args: block.input }] : []))
}

/** The arguments as the caller of an SDK would read them; nothing where they are not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text)
  } catch {
    return undefined
  }
}

/**
 * The bytes of a chat fixture for the helper of OpenAI's SDK. The fixtures leave out what says nothing, but without a
 * role and the type of each call the helper reads nothing at all; these are put back, and no other byte is touched.
 */
export function dressed(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  const spoken = text.replaceAll(/"delta":\s*\{(?!\s*\}|\s*"role")/g, '$&"role":"assistant",')
  const typed = spoken.includes('"type"')
    ? spoken
    : spoken.replaceAll(/"function":\s*\{\s*"name"/g, '"type":"function",$&')
  return Buffer.from(typed, 'latin1')
}
