import { nearMisses } from '../schema/near.ts'
import { ENDPOINTS } from '../wire/endpoint.ts'
import { merged, type ModelFacts, profileFor } from './profile.ts'
import type { Facts, Row } from './row.ts'
import { rows as table } from './table.ts'
import {
  baseUrlVariable,
  type Credential,
  type Environment,
  type Granted,
  hasPassword,
  isLoopback,
  SENDABLE,
  type Target,
  waysIn,
} from './target.ts'

/** Why a name leads nowhere: a sentence for the person, and the exit code; 41 is for signing in, 42 for the rest. */
export interface Problem {
  readonly problem: string
  readonly code: 41 | 42
}

/** Credentials besides those of the environment; nobody looks for them as long as a variable is set. */
export interface SignIns {
  /** What the person signed in with. */
  readonly stored: (row: Row) => Granted | undefined
  /** What this machine is signed in to Google with. */
  readonly google: () => Granted | Problem | undefined
}

/** What an examination has found out about a model at an address, where one was held. */
export type Learnt = (row: Row, model: string, baseUrl: string) => Facts | undefined

const NO_SIGN_INS: SignIns = { stored: () => undefined, google: () => undefined }

/** Finds what a name like `gemini/gemini-2.5-pro` means here: the vendor, the model, the key and the address. */
export function resolveModel(
  name: string,
  env: Environment,
  rows: readonly Row[] = table,
  signIns: SignIns = NO_SIGN_INS,
  learnt: Learnt = () => undefined,
): Target | Problem {
  const slash = name.indexOf('/')
  const id = (slash < 0 ? name : name.slice(0, slash)).toLowerCase()
  const row = rows.find((one) => one.id === id)
  if (!row) return stranger(name, id, rows)
  const model = slash < 0 ? (row.model ?? '') : name.slice(slash + 1)
  if (model === '') return { problem: `Which model of ${id}? Name it as ${id}/<model>.`, code: 42 }
  return aim(row, model, env, { signIns, learnt })
}

/** The model to use when none is named: that of the first row whose key is in the environment, or was stored. */
export function defaultModel(
  env: Environment,
  rows: readonly Row[] = table,
  signIns: SignIns = NO_SIGN_INS,
): string | undefined {
  // Google's own switch between its two doors.
  const vertex = /^(?:true|1)$/i.test(env['GOOGLE_GENAI_USE_VERTEXAI'] ?? '')
  const ordered = vertex ? [...rows].sort((a, b) => Number(b.path === 'vertex') - Number(a.path === 'vertex')) : rows
  const remote = ordered.filter((one) => one.model !== undefined && one.port === undefined)
  const row =
    remote.find((one) => keyOf(one, env) !== undefined) ??
    remote.find((one) => (vertex && one.path === 'vertex' ? signIns.google() : undefined) ?? signIns.stored(one))
  return row && `${row.id}/${row.model}`
}

/** Asks a URL for JSON and gives up after so many milliseconds; undefined if nothing sensible came. */
export type Probe = (url: string, ms: number) => Promise<unknown>

/** How long a server on this machine may take to say that it is there, at its usual and at a configured address. */
const PROBE_MS = 150
const CONFIGURED_PROBE_MS = 2000

/**
 * Looks for a model server on this machine, at the usual or the configured addresses, all at once; the first of the table
 * that has a model wins.
 */
export async function findLocal(
  probe: Probe,
  rows: readonly Row[] = table,
  env: Environment = {},
): Promise<string | undefined> {
  const local = rows.filter((row) => row.port !== undefined && mayProbe(row, env))
  const found = await Promise.all(
    local.map(async (row) => {
      const base = baseUrl(row, env, '')
      const ms = isAddressConfigured(row, env) ? CONFIGURED_PROBE_MS : PROBE_MS
      return typeof base === 'string' ? probe(`${base}/models`, ms).catch(() => undefined) : undefined
    }),
  )
  for (const [at, row] of local.entries()) {
    const model = firstModel(found[at])
    if (model !== undefined) return `${row.id}/${model}`
  }
  return undefined
}

/**
 * May a server on this machine be asked which models it has? `DRAGOMAN_LOCAL_SERVERS=off` means that the usual ports are
 * left alone; a server whose address the person configured is asked all the same.
 */
export function mayProbe(row: Row, env: Environment): boolean {
  const isOff = /^(?:off|0|false|no)$/i.test(env['DRAGOMAN_LOCAL_SERVERS']?.trim() ?? '')
  return !isOff || isAddressConfigured(row, env)
}

/** Did the person set the address of a provider, in a variable or in the settings? */
export function isAddressConfigured(row: Row, env: Environment): boolean {
  return !table.includes(row) || urlVariable(row, env) !== undefined
}

function firstModel(answer: unknown): string | undefined {
  const data = (answer as { data?: unknown } | undefined)?.data
  if (!Array.isArray(data)) return undefined
  const ids = data
    .map((one) => (one as { id?: unknown } | null)?.id)
    .filter((id) => typeof id === 'string' && id !== '')
  return ids.find((id) => !/embed|rerank|whisper|tts/i.test(String(id))) as string | undefined
}

function aim(
  row: Row,
  model: string,
  env: Environment,
  { signIns, learnt }: { signIns: SignIns; learnt: Learnt },
): Target | Problem {
  const location = text(env, 'GOOGLE_CLOUD_LOCATION') ?? 'global'
  const ofSettings = table.includes(row) ? undefined : `providers.${row.id}.url of the settings`
  const addressFrom = urlVariable(row, env) ?? ofSettings
  const base = baseUrl(row, env, location)
  if (typeof base !== 'string') return base
  const named = keyOf(row, env)
  const granted = named || row.auth === 'none' ? undefined : grantFor(row, signIns)
  const key = named ?? (granted && 'key' in granted ? granted.key : granted)
  if (key && 'problem' in key) return key
  if (!key && row.auth !== 'none' && row.port === undefined && !isLoopback(new URL(base).hostname))
    return { problem: `${row.id} needs a key: ${waysIn(row)}.`, code: 41 }
  const own = granted && 'key' in granted ? granted.project : undefined
  const project = text(env, 'GOOGLE_CLOUD_PROJECT') ?? text(env, 'GOOGLE_CLOUD_PROJECT_ID') ?? own
  // An API key names its own project; a person's token does not.
  if (row.path === 'vertex' && key?.style === 'bearer' && project === undefined)
    return { problem: `${row.id} needs to know who pays: set GOOGLE_CLOUD_PROJECT.`, code: 42 }
  return {
    row,
    model,
    wire: row.wire,
    profile: corrected(profileFor(row, model), learnt(row, model, base)),
    baseUrl: base,
    ...(addressFrom !== undefined && { addressFrom }),
    ...(key && { key }),
    ...(project !== undefined && { project }),
    ...(row.path === 'vertex' && { location }),
    ...installation(row, env),
  }
}

/** What was found out about an endpoint comes before what is known of its kind. */
function corrected(known: ModelFacts, found: Facts | undefined): ModelFacts {
  return found ? { ...merged(known, found), signer: known.signer } : known
}

function grantFor(row: Row, { stored, google }: SignIns): Granted | Problem | undefined {
  return stored(row) ?? (row.signIn === 'google' ? google() : undefined)
}

/** The id of an installation, which Google's own client sends with its statistics: only if the person sets one. */
function installation(row: Row, env: Environment): Pick<Target, 'headers'> {
  const id = text(env, 'DRAGOMAN_INSTALLATION_ID')
  const header = ENDPOINTS[row.wire].installationHeader
  return header !== undefined && id !== undefined && SENDABLE.test(id) ? { headers: { [header]: id } } : {}
}

function baseUrl(row: Row, env: Environment, location: string): string | Problem {
  const variable = urlVariable(row, env)
  // The global endpoint has no place in its name.
  const own = row.url.replace('{location}-', location === 'global' ? '' : `${location}-`)
  const url = variable === undefined ? own : (text(env, variable) ?? '')
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return { problem: `${variable ?? `The address of ${row.id}`} is no http(s) URL.`, code: 42 }
  if (hasPassword(url)) return { problem: `${variable} holds a password, which is not sent: leave it out.`, code: 42 }
  return url.replace(/\/+$/, '')
}

/** The variable that names another address for a provider, if one is set. */
function urlVariable(row: Row, env: Environment): string | undefined {
  return [baseUrlVariable(row.id), ...(row.urls ?? [])].find((name) => text(env, name) !== undefined)
}

function keyOf(row: Row, env: Environment): Credential | Problem | undefined {
  const bearer = row.tokens ?? []
  for (const variable of [...row.keys, ...bearer]) {
    const value = text(env, variable)
    if (value === undefined) continue
    if (!SENDABLE.test(value)) return { problem: `The key in ${variable} holds characters that no key has.`, code: 41 }
    return { style: bearer.includes(variable) ? 'bearer' : row.auth, read: () => value }
  }
  return undefined
}

/** A variable that is empty is not set. */
function text(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

/** A name that no row has: misspelt, or a model without its vendor. */
function stranger(name: string, id: string, rows: readonly Row[]): Problem {
  const ids = rows.map((row) => row.id)
  const near = nearMisses([id], ids).get(id)
  const model = name.slice(name.lastIndexOf('/') + 1)
  const home = MAKERS.find(([pattern, maker]) => pattern.test(model) && ids.includes(maker))?.[1]
  const meant = near === undefined ? home && `${home}/${model}` : `${near}${name.slice(id.length)}`
  const hint =
    meant === undefined ? `A model is named as provider/model; there are ${ids.join(', ')}.` : `Did you mean ${meant}?`
  return { problem: `There is no provider “${id}”. ${hint}`, code: 42 }
}

/** Who makes what: for names without a vendor. */
const MAKERS: readonly (readonly [pattern: RegExp, row: string])[] = [
  [/^gem(?:ini|ma)/i, 'gemini'],
  [/^claude/i, 'anthropic'],
  [/^(?:chatgpt|gpt|o\d)/i, 'openai'],
  [/^grok/i, 'xai'],
  [/^(?:mistral|ministral|magistral|codestral|devstral)/i, 'mistral'],
  [/^kimi/i, 'moonshot'],
  [/^deepseek/i, 'deepseek'],
  [/^glm/i, 'zai'],
  [/^minimax/i, 'minimax'],
  [/^qwen/i, 'dashscope'],
]
