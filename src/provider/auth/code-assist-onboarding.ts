import { isObject, type JsonObject, stringOrEmpty, filterObjects } from '../../model/json.ts'
import { createRedactor } from '../../model/security/redactor.ts'
import { buildKeyHeader, USER_AGENT } from '../http/url-and-headers.ts'
import { type Clock, systemClock, sleep } from '../clock.ts'
import type { Endpoint } from '../endpoint.ts'
import type { HttpClient } from '../http/http-client.ts'
import { type JsonResponse, fetchJson } from '../http/fetch-json.ts'
import { defined } from '../../model/defined.ts'

export interface CodeAssistAccount {
  readonly tier: string
  readonly project?: string
}

export interface CodeAssistOptions {
  readonly httpClient: HttpClient
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

/** The user's tier and project; signs the user up if needed. Throws a message if the user must do something first. */
export async function onboardCodeAssist(endpoint: Endpoint, options: CodeAssistOptions): Promise<CodeAssistAccount> {
  const ownProject = endpoint.project
  if (ownProject !== undefined && /^\d+$/.test(ownProject))
    throw new Error(`GOOGLE_CLOUD_PROJECT must be the id of a project, not its number (${ownProject}).`)
  const projectField = { ...defined({ cloudaicompanionProject: ownProject }) }
  const metadata = { ...METADATA, ...defined({ duetProject: ownProject }) }
  const loaded = await callMethod(endpoint, options, 'loadCodeAssist', { ...projectField, metadata })
  if (isBlockedByServiceControls(loaded)) return createAccount('standard-tier', ownProject, loaded.json)
  const json = checkResponse(loaded, 'loadCodeAssist')
  const current = getTierId(json['currentTier'])
  if (current !== '') return createAccount(current, stringOrEmpty(json['cloudaicompanionProject']) || ownProject, json)

  const tier = chooseTier(json)
  // The free tier gets a project of Google's.
  const tierFields = tier === FREE_TIER ? {} : projectField
  const started = checkResponse(
    await callMethod(endpoint, options, 'onboardUser', { tierId: tier, ...tierFields, metadata }),
    'onboardUser',
  )
  const done = await awaitOperation(endpoint, options, started)
  const answer = isObject(done['response']) ? done['response'] : {}
  const project = isObject(answer['cloudaicompanionProject']) ? answer['cloudaicompanionProject'] : {}
  return createAccount(tier, stringOrEmpty(project['id']) || ownProject, json)
}

const METADATA = { ideType: 'IDE_UNSPECIFIED', platform: 'PLATFORM_UNSPECIFIED', pluginType: 'GEMINI' }
const FREE_TIER = 'free-tier'
const LEGACY_TIER = 'legacy-tier'

const POLL_INTERVAL_MS = 5000
const MAX_POLLS = 60

async function awaitOperation(
  endpoint: Endpoint,
  options: CodeAssistOptions,
  started: JsonObject,
): Promise<JsonObject> {
  let operation = started
  for (let polls = 0; operation['done'] !== true; polls++) {
    const name = stringOrEmpty(operation['name'])
    if (name === '' || polls >= MAX_POLLS) throw new Error('Code Assist did not finish the sign-up; try again later.')
    await sleep(options.clock ?? systemClock, POLL_INTERVAL_MS, options.signal)
    if (options.signal?.aborted) throw new Error('stopped')
    operation = checkResponse(await callMethod(endpoint, options, name), 'the sign-up')
  }
  return operation
}

/** With a body it calls a method, without one it reads an operation. */
async function callMethod(
  endpoint: Endpoint,
  { httpClient, signal }: CodeAssistOptions,
  what: string,
  body?: JsonObject,
): Promise<JsonResponse> {
  const path = body ? `/v1internal:${what}` : `/v1internal/${what}`
  const key = endpoint.credential && buildKeyHeader(endpoint.credential, await endpoint.credential.read())
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': USER_AGENT,
    ...endpoint.headers,
    ...endpoint.credential?.headers,
    ...key,
  }
  const request = { url: new URL(`${endpoint.baseUrl}${path}`), headers }
  return fetchJson(
    httpClient,
    body ? { ...request, body: [JSON.stringify(body)] } : { ...request, method: 'GET', body: [] },
    signal,
  )
}

function checkResponse({ status, json }: JsonResponse, what: string): JsonObject {
  if (status >= 200 && status < 300) return json
  const error = isObject(json['error']) ? json['error'] : {}
  const message = createRedactor().redact(stringOrEmpty(error['message'])).slice(0, 300)
  throw new Error(`Code Assist answered ${what} with ${status}${message === '' ? '' : `: ${message}`}.`)
}

function createAccount(tier: string, project: string | undefined, json: JsonObject): CodeAssistAccount {
  if (project === undefined && tier !== FREE_TIER)
    throw new Error(`set GOOGLE_CLOUD_PROJECT.${listIneligibleReasons(json)}`)
  return { tier, ...defined({ project }) }
}

function chooseTier(json: JsonObject): string {
  const allowed = filterObjects(json['allowedTiers'])
  const usual = allowed.find((tier) => tier['isDefault'] === true)
  if (!usual && allowed.length === 0 && listIneligibleReasons(json) !== '')
    throw new Error(`no tier is available to you.${listIneligibleReasons(json)}`)
  return getTierId(usual) || LEGACY_TIER
}

/** Why some tiers are not available to this user, in Google's words. */
function listIneligibleReasons(json: JsonObject): string {
  const closed = filterObjects(json['ineligibleTiers'])
  return closed
    .map((tier) => [
      stringOrEmpty(tier['reasonMessage']) || stringOrEmpty(tier['reasonCode']),
      stringOrEmpty(tier['validationUrl']),
    ])
    .map((message) => ` ${message.filter((word) => word !== '').join(' ')}`)
    .join('')
}

function getTierId(value: unknown): string {
  return isObject(value) ? stringOrEmpty(value['id']) : ''
}

/** VPC Service Controls of a company block this one method; its users are in the standard tier. */
function isBlockedByServiceControls({ status, json }: JsonResponse): boolean {
  return status >= 400 && JSON.stringify(json).includes('SECURITY_POLICY_VIOLATED')
}
