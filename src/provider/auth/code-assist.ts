import { isObject, type JsonObject, stringOf } from '../../model/json.ts'
import { redactor } from '../../model/secret.ts'
import { keyHeader, USER_AGENT } from '../address.ts'
import { type Clock, systemClock, wait } from '../clock.ts'
import type { Target } from '../target.ts'
import type { Post } from '../transport.ts'
import { type Answered, fetchJson } from './fetch-json.ts'

/** What Code Assist says about a person: in which tier they are, and which project pays. */
export interface Entrance {
  readonly tier: string
  readonly project?: string
}

/** What entering needs. */
export interface Way {
  readonly post: Post
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

/**
 * Enters Code Assist: asks for the person's tier and project, and signs them up if they have none. Throws a sentence
 * where the person must do something first.
 */
export async function enter(target: Target, way: Way): Promise<Entrance> {
  const own = target.project
  if (own !== undefined && /^\d+$/.test(own))
    throw new Error(`GOOGLE_CLOUD_PROJECT must be the id of a project, not its number (${own}).`)
  const named = { ...(own !== undefined && { cloudaicompanionProject: own }) }
  const metadata = { ...METADATA, ...(own !== undefined && { duetProject: own }) }
  const loaded = await call(target, way, 'loadCodeAssist', { ...named, metadata })
  if (isFenced(loaded)) return entrance('standard-tier', own, loaded.json)
  const json = checked(loaded, 'loadCodeAssist')
  const current = tierOf(json['currentTier'])
  if (current !== '') return entrance(current, stringOf(json['cloudaicompanionProject']) || own, json)

  const tier = offeredTier(json)
  // Who pays for nothing gets a project of Google's.
  const paying = tier === FREE ? {} : named
  const begun = checked(await call(target, way, 'onboardUser', { tierId: tier, ...paying, metadata }), 'onboardUser')
  const done = await awaitOperation(target, way, begun)
  const answer = isObject(done['response']) ? done['response'] : {}
  const project = isObject(answer['cloudaicompanionProject']) ? answer['cloudaicompanionProject'] : {}
  return entrance(tier, stringOf(project['id']) || own, json)
}

/** Asks how many tokens a conversation has; `contents` are in Gemini's form. */
export async function countTokens(target: Target, contents: JsonObject[], way: Way): Promise<number> {
  const body = { request: { model: `models/${target.model}`, contents } }
  const json = checked(await call(target, way, 'countTokens', body), 'countTokens')
  const total = json['totalTokens']
  return typeof total === 'number' ? total : 0
}

const METADATA = { ideType: 'IDE_UNSPECIFIED', platform: 'PLATFORM_UNSPECIFIED', pluginType: 'GEMINI' }
const FREE = 'free-tier'
const LEGACY = 'legacy-tier'

/** How often we look whether an operation is done, and how often at most. */
const POLL_MS = 5000
const MOST_POLLS = 60

async function awaitOperation(target: Target, way: Way, begun: JsonObject): Promise<JsonObject> {
  let operation = begun
  for (let polls = 0; operation['done'] !== true; polls++) {
    const name = stringOf(operation['name'])
    if (name === '' || polls >= MOST_POLLS) throw new Error('Code Assist did not finish the sign-up; try again later.')
    await wait(way.clock ?? systemClock, POLL_MS, way.signal)
    if (way.signal?.aborted) throw new Error('stopped')
    operation = checked(await call(target, way, name), 'the sign-up')
  }
  return operation
}

/** With a body a method is called; without one an operation is looked at. */
async function call(target: Target, { post, signal }: Way, what: string, body?: JsonObject): Promise<Answered> {
  const place = body ? `/v1internal:${what}` : `/v1internal/${what}`
  const key = target.key && keyHeader(target.key, await target.key.read())
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': USER_AGENT,
    ...target.headers,
    ...target.key?.headers,
    ...key,
  }
  const letter = { url: new URL(`${target.baseUrl}${place}`), headers }
  return fetchJson(
    post,
    body ? { ...letter, body: [JSON.stringify(body)] } : { ...letter, method: 'GET', body: [] },
    signal,
  )
}

function checked({ status, json }: Answered, what: string): JsonObject {
  if (status >= 200 && status < 300) return json
  const error = isObject(json['error']) ? json['error'] : {}
  const words = redactor().clean(stringOf(error['message'])).slice(0, 300)
  throw new Error(`Code Assist answered ${what} with ${status}${words === '' ? '' : `: ${words}`}.`)
}

function entrance(tier: string, project: string | undefined, json: JsonObject): Entrance {
  if (project === undefined && tier !== FREE) throw new Error(`set GOOGLE_CLOUD_PROJECT.${reasons(json)}`)
  return { tier, ...(project !== undefined && { project }) }
}

function offeredTier(json: JsonObject): string {
  const allowed = objectsIn(json['allowedTiers'])
  const usual = allowed.find((tier) => tier['isDefault'] === true)
  if (!usual && allowed.length === 0 && reasons(json) !== '') throw new Error(`no tier is open to you.${reasons(json)}`)
  return tierOf(usual) || LEGACY
}

/** Why some tiers are closed to this person, in Google's words. */
function reasons(json: JsonObject): string {
  const closed = objectsIn(json['ineligibleTiers'])
  return closed
    .map((tier) => [stringOf(tier['reasonMessage']) || stringOf(tier['reasonCode']), stringOf(tier['validationUrl'])])
    .map((words) => ` ${words.filter((word) => word !== '').join(' ')}`)
    .join('')
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one: unknown) => isObject(one)) : []
}

function tierOf(value: unknown): string {
  return isObject(value) ? stringOf(value['id']) : ''
}

/** A company's fence around its project refuses this one question; those people are in the standard tier. */
function isFenced({ status, json }: Answered): boolean {
  return status >= 400 && JSON.stringify(json).includes('SECURITY_POLICY_VIOLATED')
}
