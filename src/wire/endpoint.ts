import { isObject, type JsonObject, objectOrEmpty } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'

/** How the key is sent: as a bearer token, in Google's or Anthropic's header, or not at all. */
export type AuthStyle = 'bearer' | 'google' | 'anthropic' | 'none'

interface RequestPathOptions {
  readonly model: string
  readonly stream: boolean
  /** For Vertex's paths: the project and location of the token. An API key implies its project. */
  readonly vertex?: { readonly project?: string; readonly location?: string }
}

/** How a wire is used over HTTP: what a client or a server must know besides the codecs. */
interface WireEndpoint {
  /** The path below the base URL, with its query. */
  readonly buildPath: (options: RequestPathOptions) => string
  /** How a key is sent, unless a provider says otherwise. */
  readonly auth: AuthStyle
  readonly headers?: Readonly<Record<string, string>>
  /** The header for the id of an installation, which is only sent if the user sets one. */
  readonly installationHeader?: string
  /** The list of models: the part of the path that `/models` replaces, and the query. */
  readonly models?: { readonly replaces: RegExp; readonly query: string }
  /** A status that means a rejected key, besides 401 and 403. */
  readonly badKeyStatus?: number
  /** The type of the last frame of a response; what follows is not part of it (T111). */
  readonly lastFrames?: readonly string[]
  /** Requests must name the cloud project that pays; it is looked up before the first one. */
  readonly needsProject?: true
  /** The fields of a body that can be left out if the server rejects them (T78, T150, T154, T155). */
  readonly listOptionalFields: (body: JsonObject) => string[]
  /** The name of the field that an error's `param` refers to. */
  readonly toFieldName: (param: string) => string
}

const GEMINI_COMMON = {
  installationHeader: 'x-gemini-api-privileged-user-id',
  listOptionalFields: (body: JsonObject) => [...listOptionalKeys(body), ...listKeys(body['generationConfig'])],
  toFieldName: toTopLevelField,
}

export const WIRE_ENDPOINTS: Readonly<Record<WireId, WireEndpoint>> = {
  gemini: {
    ...GEMINI_COMMON,
    buildPath: buildGeminiPath,
    auth: 'google',
    models: { replaces: /\/(?:models|tunedModels)\/.*$/, query: '?pageSize=1000' },
    badKeyStatus: 400,
  },
  interactions: {
    ...GEMINI_COMMON,
    buildPath: buildInteractionsPath,
    auth: 'google',
    models: { replaces: /\/interactions$/, query: '?pageSize=1000' },
    badKeyStatus: 400,
    lastFrames: ['interaction.completed'],
    listOptionalFields: (body) => [...listOptionalKeys(body), ...listKeys(body['generation_config'])],
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
    // On this wire nested fields can be left out too.
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

function buildGeminiPath({ model, stream, vertex }: RequestPathOptions): string {
  const method = getGeminiMethod(stream)
  if (!vertex) return `/v1beta/${getGeminiResource(model)}:${method}`
  return `/v1beta1${getVertexScope(vertex)}/publishers/google/models/${encodeURIComponent(model)}:${method}`
}

/** One path for all models; Vertex puts the project before it. */
function buildInteractionsPath({ vertex }: RequestPathOptions): string {
  return vertex ? `/v1beta1${getVertexScope(vertex)}/interactions` : '/v1beta/interactions'
}

function getVertexScope({ project, location = 'global' }: NonNullable<RequestPathOptions['vertex']>): string {
  return project === undefined ? '' : `/projects/${encodeURIComponent(project)}/locations/${location}`
}

function getGeminiMethod(stream: boolean): string {
  return stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
}

/** Tuned models have a path of their own. */
function getGeminiResource(model: string): string {
  const path = model.split('/').map(encodeURIComponent).join('/')
  return model.includes('/') ? path : `models/${path}`
}

/** Never left out. Rejections of the history and of tools are handled separately. */
const REQUIRED_FIELDS = new Set(
  'model messages contents input instructions system systemInstruction system_instruction generationConfig generation_config tools stream session_id'.split(
    ' ',
  ),
)

function listOptionalKeys(body: JsonObject): string[] {
  return Object.keys(body).filter((name) => !REQUIRED_FIELDS.has(name))
}

function listKeys(value: unknown): string[] {
  return Object.keys(objectOrEmpty(value))
}

/** `generation_config.thinking_config.thinking_budget` refers to `thinking_config`, which can be left out. */
function toTopLevelField(param: string): string {
  const steps = param.replace(/^(?:request|generation_?config)\./i, '').split(/[.[]/)
  return steps[0] ?? param
}
