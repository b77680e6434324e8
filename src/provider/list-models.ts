import { isObject, type Json } from '../model/json.ts'
import type { Fault } from '../model/fault.ts'
import { ENDPOINTS } from '../wire/endpoint.ts'
import { addressOf, sign } from './address.ts'
import { jsonIn } from './auth/fetch-json.ts'
import type { Target } from './target.ts'
import type { Post } from './transport.ts'
import { connectionFault } from './trouble.ts'

/** A model that an endpoint says it has, with what it says of it. */
export interface OfferedModel {
  readonly id: string
  readonly window?: number
  readonly output?: number
}

/** Asks an endpoint for its models; a sentence if it does not tell. */
export async function listModels(
  target: Target,
  post: Post,
  ms = PATIENCE,
): Promise<readonly OfferedModel[] | { readonly problem: string }> {
  const url = listAddress(target)
  if (!url) return { problem: `${target.row.id} has no list of its models.` }
  const answered = await getJson(target, url, post, ms)
  if ('kind' in answered) return { problem: answered.message }
  const { status, json } = answered
  if (status >= 300) return { problem: `${target.row.id} does not give its list of models: it answered ${status}.` }
  return json === undefined
    ? { problem: `${target.row.id} gives a list of models that is no JSON.` }
    : offered(json as Json)
}

/** Asks an endpoint for something that costs nothing, with the key; `json` is undefined where none came. */
export async function getJson(
  target: Target,
  url: URL,
  post: Post,
  ms = PATIENCE,
): Promise<{ readonly status: number; readonly json: unknown } | Fault> {
  const signed = await sign(target, false)
  if ('kind' in signed) return signed
  try {
    const letter = { url, method: 'GET', headers: signed.headers, body: [] } as const
    const { status, body } = await post(letter, AbortSignal.timeout(ms))
    return { status, json: await jsonIn(body, MOST) }
  } catch (error) {
    return connectionFault(error, target, url)
  }
}

/** Milliseconds; and bytes: the longest lists have about one megabyte. */
const PATIENCE = 15_000
const MOST = 16_000_000

/** Where an endpoint lists its models: beside the address of requests. */
export function listAddress(target: Target): URL | undefined {
  const { models } = ENDPOINTS[target.wire]
  if (!models) return undefined
  const url = addressOf(target, false)
  url.pathname = url.pathname.replace(models.replaces, '/models')
  url.search = models.query
  return url
}

/** Every vendor lists its models under another key, and some tell how much they take in. */
function offered(json: Json): OfferedModel[] {
  const list = isObject(json) ? (json['data'] ?? json['models'] ?? json['publisherModels']) : json
  if (!Array.isArray(list)) return []
  return list.flatMap((one) => {
    if (!isObject(one)) return []
    const id = one['id'] ?? one['name']
    const methods = one['supportedGenerationMethods']
    if (typeof id !== 'string' || id === '' || NO_TALK.test(id)) return []
    if (Array.isArray(methods) && !methods.includes('generateContent')) return []
    const window = firstNumber(one, [
      'inputTokenLimit',
      'max_input_tokens',
      'context_length',
      'context_window',
      'max_model_len',
      'loaded_context_length',
    ])
    const output = firstNumber(one, ['outputTokenLimit', 'max_tokens', 'max_completion_tokens'])
    return [
      {
        id: id.replace(/^(?:publishers\/google\/)?models\//, ''),
        ...(window !== undefined && { window }),
        ...(output !== undefined && { output }),
      },
    ]
  })
}

/** Models that nobody can talk to. */
const NO_TALK = /embed|rerank|whisper|tts|moderation|dall-e|transcribe/i

function firstNumber(one: Readonly<Record<string, unknown>>, keys: readonly string[]): number | undefined {
  const values = keys.map((key) => one[key])
  return values.find((value): value is number => typeof value === 'number' && value > 0)
}
