import { type JsonObject, isObject } from '../../model/json.ts'
import type { HttpRequest, HttpClient, HttpResponse } from './http-client.ts'

/** A small answer of an endpoint that has to do with signing in. */
export interface JsonResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty where the answer is no JSON object. */
  readonly json: JsonObject
}

/** Sends a letter and reads a small JSON answer; throws if none comes in time. */
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

/** The JSON of a body that is no longer than so many bytes; undefined where it is none. */
export async function readJsonBody(body: HttpResponse['body'], most: number): Promise<unknown> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > most) return undefined
    pieces.push(piece)
  }
  try {
    return JSON.parse(Buffer.concat(pieces).toString())
  } catch {
    return undefined
  }
}

/** A form, as token endpoints want it. */
export function createFormRequest(url: string, fields: Readonly<Record<string, string>>): HttpRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return { url: new URL(url), headers, body: [new URLSearchParams(fields).toString()] }
}

/** Milliseconds; and bytes. */
const REQUEST_TIMEOUT_MS = 30_000
const MAX_RESPONSE_BYTES = 4_000_000
