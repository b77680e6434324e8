import { type JsonObject, isObject, tryParseJson } from '../../model/json.ts'
import type { HttpRequest, HttpClient, HttpResponse } from './http-client.ts'

export interface JsonResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty if the body is not a JSON object. */
  readonly json: JsonObject
}

/** Sends a request and reads a small JSON response; throws if none comes in time. */
export async function fetchJson(
  httpClient: HttpClient,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<JsonResponse> {
  const clock = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  const { status, headers, body } = await httpClient(request, signal ? AbortSignal.any([clock, signal]) : clock)
  const json = await readJsonBody(body, MAX_RESPONSE_BYTES)
  return { status, headers, json: isObject(json) ? (json as JsonObject) : {} }
}

/** Parses a body of at most `most` bytes; undefined if it is not JSON. */
export async function readJsonBody(body: HttpResponse['body'], most: number): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > most) return undefined
    pieces.push(piece)
  }
  return tryParseJson(Buffer.concat(pieces).toString())
}

/** A form, as token endpoints expect it. */
export function createFormRequest(url: string, fields: Readonly<Record<string, string>>): HttpRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return { url: new URL(url), headers, body: [new URLSearchParams(fields).toString()] }
}

const REQUEST_TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 4_000_000
