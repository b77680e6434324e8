import { defined } from '../model/defined.ts'
import type { WireId } from '../model/turn.ts'
import type { StreamFraming } from './framing/write-frames.ts'

/** What a client of a vendor's API asks for, by its path. */
export type VendorRoute =
  | {
      readonly kind: 'ask'
      readonly wire: WireId
      /** If the path contains it. */
      readonly model?: string
      /** If the path determines it. */
      readonly stream?: boolean
      readonly framing: StreamFraming
    }
  | { readonly kind: 'count'; readonly wire: WireId; readonly model?: string }
  | { readonly kind: 'models'; readonly wire: WireId; readonly model?: string }

/** Ignores everything before the vendor's own path, so that any base URL works. */
export function parseVendorRoute(url: string, headers: Readonly<Record<string, unknown>>): VendorRoute | undefined {
  const [rawPath = '', query = ''] = url.split('?', 2)
  const path = decodePath(rawPath).replace(/\/+$/, '')
  if (path.endsWith('/chat/completions')) return { kind: 'ask', wire: 'openai-chat', framing: 'sse' }
  if (path.endsWith('/responses')) return { kind: 'ask', wire: 'openai-responses', framing: 'sse' }
  if (path.endsWith('/interactions')) return { kind: 'ask', wire: 'interactions', framing: 'sse' }
  if (path.endsWith('/messages')) return { kind: 'ask', wire: 'anthropic', framing: 'sse' }
  if (path.endsWith('/messages/count_tokens')) return { kind: 'count', wire: 'anthropic' }
  const google = (GOOGLE_PATH.exec(path) ?? GOOGLE_PATH_WITH_PROVIDER.exec(path))?.groups
  if (google) return parseGoogleRoute(google['method'] ?? '', google['model'], query)
  const modelsMatch = /\/models(?:\/(?<model>.+))?$/.exec(path)
  if (!modelsMatch) return undefined
  return { kind: 'models', wire: guessVendorWire(path, headers), ...defined({ model: modelsMatch.groups?.['model'] }) }
}

/** Whose API a path is meant for that several have, or that none has. */
export function guessVendorWire(path: string, headers: Readonly<Record<string, unknown>>): WireId {
  if (/\/v1(?:alpha|beta\d*)\//.test(path)) return 'gemini'
  return headers['anthropic-version'] === undefined ? 'openai-chat' : 'anthropic'
}

const GOOGLE_PATH = /\/(?:models\/(?<model>.+)|v1internal):(?<method>\w+)$/

/** The AI SDK takes a name with a slash, such as `provider/model`, for a whole path. */
const GOOGLE_PATH_WITH_PROVIDER = /\/v1(?:alpha|beta\d*)?\/(?<model>[^/]+\/.+):(?<method>\w+)$/

function parseGoogleRoute(method: string, model: string | undefined, query: string): VendorRoute | undefined {
  const target = { wire: model === undefined ? 'code-assist' : 'gemini', ...defined({ model }) } as const
  if (method === 'countTokens') return { kind: 'count', ...target }
  const stream = method === 'streamGenerateContent'
  if (!stream && method !== 'generateContent') return undefined
  const isSse = new URLSearchParams(query).get('alt') === 'sse'
  return { kind: 'ask', ...target, stream, framing: isSse ? 'sse' : 'array' }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
