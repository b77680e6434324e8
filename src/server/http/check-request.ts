import { isIP } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { isObject, type JsonObject, tryParseJson } from '../../model/json.ts'
import { hasOnlyWellFormedStrings } from '../../model/text.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { validate } from '../../schema/validate/validate.ts'
import { ApiError } from './api-error.ts'
import { needsBody, type Route } from './route.ts'
import { COMPONENTS } from './schemas.ts'

/**
 * A name that leads to this machine without belonging to it is how a web page reaches a server in a private network. A
 * number cannot be such a name.
 */
export function assertKnownHost(request: IncomingMessage, hosts: readonly string[]): void {
  const host = /^(?<name>\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(request.headers.host ?? '')?.groups?.['name']?.toLowerCase()
  if (host !== undefined && host !== '') {
    if (isIP(host.replace(/^\[|\]$/g, '')) !== 0 || host === 'localhost' || hosts.includes(host)) return
  }
  throw new ApiError('wrong-host', 'The server does not answer to this host name; its settings have the list.')
}

/** Only web pages send an origin. */
export function assertKnownOrigin(request: IncomingMessage, origins: readonly string[]): void {
  const { origin } = request.headers
  if (origin !== undefined && !origins.includes(origin))
    throw new ApiError('forbidden', 'Web pages of this origin may not use the server; its settings have the list.')
}

export function getBearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,512})$/i.exec(request.headers.authorization ?? '')?.[1]
}

/** Reads a body of at most `maxBytes`; longer ones are not read to their end. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = new ApiError('too-large', `The body is longer than ${maxBytes} bytes.`, { connection: 'close' })
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes) throw tooLarge
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The body as the schema of the route has it. */
export function parseBody(route: Route, request: IncomingMessage, bytes: Buffer): JsonObject {
  const { body: schema } = route
  if (!schema || (bytes.length === 0 && !needsBody(route))) return {}
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new ApiError(
      'unsupported-media-type',
      'The body must be JSON, with the header Content-Type: application/json.',
    )
  const text = tryOrUndefined(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  if (text === undefined) throw new ApiError('invalid-request', 'The body is not UTF-8.')
  if (isNestedDeeperThan(text, MAX_BODY_DEPTH)) throw new ApiError('invalid-request', 'The body is nested too deeply.')
  const body = tryParseJson(text)
  if (!isObject(body)) throw new ApiError('invalid-request', 'The body is not a JSON object.')
  if (!hasOnlyWellFormedStrings(body)) throw new ApiError('invalid-request', 'The body has text that is not Unicode.')
  assertValid(schema, body, 'The body')
  return body as JsonObject
}

const MAX_BODY_DEPTH = 100

/** What is nested more deeply than any schema could overflow the stack of what walks through it. */
function isNestedDeeperThan(json: string, max: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at++) {
    const char = json[at]
    if (char === '"') isInString = !isInString
    else if (isInString) at += char === '\\' ? 1 : 0
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    if (depth > max) return true
  }
  return false
}

/** Every parameter must be known: a mistyped one would be ignored silently. */
export function assertQuery({ query = {} }: Route, params: URLSearchParams): void {
  for (const name of params.keys()) {
    const spec = Object.hasOwn(query, name) ? query[name] : undefined
    if (!spec) throw new ApiError('invalid-request', `There is no parameter “${name}”.`)
    if (params.getAll(name).length > 1) throw new ApiError('invalid-request', `“${name}” is given more than once.`)
    const text = params.get(name) ?? ''
    const value = spec.schema['type'] === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text
    assertValid(spec.schema, value, `The parameter “${name}”`)
  }
}

function assertValid(schema: JsonObject, value: unknown, what: string): void {
  const [problem] = validate({ ...schema, components: { schemas: COMPONENTS } }, value)
  if (problem)
    throw new ApiError(
      'invalid-request',
      `${what} is not valid${problem.path === '' ? '' : ` at ${problem.path}`}: ${problem.message}`,
    )
}
