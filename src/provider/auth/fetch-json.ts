import { type JsonObject, isObject } from '../../model/json.ts'
import type { Letter, Post, Reply } from '../transport.ts'

/** A small answer of an endpoint that has to do with signing in. */
export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Empty where the answer is no JSON object. */
  readonly json: JsonObject
}

/** Sends a letter and reads a small JSON answer; throws if none comes in time. */
export async function fetchJson(post: Post, letter: Letter, signal?: AbortSignal): Promise<Answered> {
  const clock = AbortSignal.timeout(PATIENCE)
  const { status, headers, body } = await post(letter, signal ? AbortSignal.any([clock, signal]) : clock)
  const json = await jsonIn(body, MOST)
  return { status, headers, json: isObject(json) ? (json as JsonObject) : {} }
}

/** The JSON of a body that is no longer than so many bytes; undefined where it is none. */
export async function jsonIn(body: Reply['body'], most: number): Promise<unknown> {
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
export function form(url: string, fields: Readonly<Record<string, string>>): Letter {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  return { url: new URL(url), headers, body: [new URLSearchParams(fields).toString()] }
}

/** Milliseconds; and bytes. */
const PATIENCE = 30_000
const MOST = 4_000_000
