import { isObject, type Json } from '../model/json.ts'
import { addressOf, headersOf } from './address.ts'
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
  if (target.wire === 'code-assist') return { problem: `${target.row.id} has no list of its models.` }
  const url = listAddress(target)
  try {
    const { headers } = await headersOf(target, false)
    const reply = await post({ url, method: 'GET', headers, body: [] }, AbortSignal.timeout(ms))
    const text = await wholeText(reply.body)
    if (reply.status >= 300)
      return { problem: `${target.row.id} does not give its list of models: it answered ${reply.status}.` }
    return offered(JSON.parse(text) as Json)
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: `${target.row.id} gives a list of models that is no JSON.` }
    return { problem: connectionFault(error, target, url).message }
  }
}

/** Milliseconds; and bytes: the longest lists have about one megabyte. */
const PATIENCE = 15_000
const MOST = 16_000_000

/** The list stands beside the place where questions go. */
function listAddress(target: Target): URL {
  const url = addressOf(target, false)
  url.pathname = url.pathname
    .replace(/\/(?:chat\/completions|responses|messages)$/, '/models')
    .replace(/\/(?:models|tunedModels)\/.*$/, '/models')
  url.search = target.wire === 'gemini' ? '?pageSize=1000' : target.wire === 'anthropic' ? '?limit=1000' : ''
  return url
}

async function wholeText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    pieces.push(piece)
    size += piece.length
    if (size > MOST) throw new SyntaxError('too long')
  }
  return Buffer.concat(pieces).toString()
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
