import { isObject, type JsonObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'

/** How a key goes with a request: as a bearer token, in Google's header, in Anthropic's, or not at all. */
export type AuthStyle = 'bearer' | 'google' | 'anthropic' | 'none'

/** What the path of a request depends on. */
export interface PathOptions {
  readonly model: string
  readonly stream: boolean
  /** Vertex's own paths, and the project and location that a token is for; an API key stands for its project. */
  readonly vertex?: { readonly project?: string; readonly location?: string }
}

/** How a wire is reached over HTTP: what a client or a server must know besides the codecs. */
export interface WireEndpoint {
  /** The path below the base URL, with its query. */
  readonly buildPath: (options: PathOptions) => string
  /** How a key is sent, unless a provider says otherwise. */
  readonly auth: AuthStyle
  readonly headers?: Readonly<Record<string, string>>
  /** The header for the id of an installation, which is only sent if the person sets one. */
  readonly installationHeader?: string
  /** The list of models: the part of the path that `/models` takes the place of, and the query. */
  readonly models?: { readonly replaces: RegExp; readonly query: string }
  /** A status that means a refused key, beside 401 and 403. */
  readonly badKeyStatus?: number
  /** The `type` of the frames after which nothing belongs to the response any more (T111). */
  readonly lastFrames?: readonly string[]
  /** A request must name the cloud project that pays, which is asked for before the first one. */
  readonly needsProject?: true
  /** The fields of a body that can be left out if the server refuses them (T78, T150, T154, T155). */
  readonly listOptionalFields: (body: JsonObject) => string[]
  /** The name of the field that an error's `param` points at. */
  readonly toFieldName: (param: string) => string
}

const GEMINI_COMMON = {
  installationHeader: 'x-gemini-api-privileged-user-id',
  listOptionalFields: (body: JsonObject) => [...listOptionalKeys(body), ...listKeys(body['generationConfig'])],
  toFieldName: toTopLevelField,
}

/** The endpoint of each wire. */
export const WIRE_ENDPOINTS: Readonly<Record<WireId, WireEndpoint>> = {
  gemini: {
    ...GEMINI_COMMON,
    buildPath: buildGeminiPath,
    auth: 'google',
    models: { replaces: /\/(?:models|tunedModels)\/.*$/, query: '?pageSize=1000' },
    badKeyStatus: 400,
  },
  'code-assist': {
    ...GEMINI_COMMON,
    buildPath: ({ stream }) => `/v1internal:${getGeminiMethod(stream)}`,
    auth: 'bearer',
    needsProject: true,
    listOptionalFields: (body) => GEMINI_COMMON.listOptionalFields(isObject(body['request']) ? body['request'] : body),
  },
  'openai-chat': {
    buildPath: () => '/chat/completions',
    auth: 'bearer',
    models: { replaces: /\/chat\/completions$/, query: '' },
    listOptionalFields: listOptionalKeys,
    toFieldName: toTopLevelField,
  },
  'openai-responses': {
    buildPath: () => '/responses',
    auth: 'bearer',
    models: { replaces: /\/responses$/, query: '' },
    lastFrames: ['response.completed', 'response.incomplete', 'response.failed'],
    // Here a field inside another can be left out too.
    listOptionalFields: (body) => [
      ...listOptionalKeys(body),
      ...Object.entries(body).flatMap(([name, value]) => listKeys(value).map((key) => `${name}.${key}`)),
    ],
    toFieldName: (param) => param,
  },
  anthropic: {
    buildPath: () => '/v1/messages',
    auth: 'anthropic',
    headers: { 'anthropic-version': '2023-06-01' },
    models: { replaces: /\/messages$/, query: '?limit=1000' },
    lastFrames: ['message_stop'],
    listOptionalFields: (body) => listOptionalKeys(body).filter((name) => name !== 'max_tokens'),
    toFieldName: toTopLevelField,
  },
}

function buildGeminiPath({ model, stream, vertex }: PathOptions): string {
  const method = getGeminiMethod(stream)
  if (!vertex) return `/v1beta/${getGeminiResource(model)}:${method}`
  const { project, location = 'global' } = vertex
  const scope = project === undefined ? '' : `/projects/${encodeURIComponent(project)}/locations/${location}`
  return `/v1beta1${scope}/publishers/google/models/${encodeURIComponent(model)}:${method}`
}

function getGeminiMethod(stream: boolean): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
}

/** Tuned models have a path of their own. */
function getGeminiResource(model: string): string {
  const path = model.split('/').map(encodeURIComponent).join('/')
  return model.includes('/') ? path : `models/${path}`
}

/** What no request can do without; refusals of the history and of tools are handled by themselves. */
const REQUIRED_FIELDS = new Set([
  'model',
  'messages',
  'contents',
  'input',
  'instructions',
  'system',
  'systemInstruction',
  'generationConfig',
  'tools',
  'stream',
  'session_id',
])

function listOptionalKeys(body: JsonObject): string[] {
  return Object.keys(body).filter((name) => !REQUIRED_FIELDS.has(name))
}

function listKeys(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : []
}

/** `generation_config.thinking_config.thinking_budget` is about the config that can be left out. */
function toTopLevelField(param: string): string {
  const steps = param.replace(/^(?:request|generation_?config)\./i, '').split(/[.[]/)
  return steps[0] ?? param
}
