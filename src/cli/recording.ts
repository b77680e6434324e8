import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../model/json.ts'
import type { Request, ToolSpec } from '../model/request.ts'
import type { Turn } from '../model/turn.ts'
import type { Auth, Row } from '../provider/row.ts'
import type { Cassette, Refused } from '../provider/wrap/record.ts'
import type { Entry } from '../session/entry.ts'
import { Complaint } from './exit.ts'

/** A line of what is recorded of a session, beside its exchanges. */
export type Line =
  | { readonly kind: 'start'; readonly dragoman: string }
  /** A session begins, or is taken up; all its entries follow. */
  | { readonly kind: 'session'; readonly id: string; readonly folder: string }
  | {
      readonly kind: 'model'
      readonly row: Row
      readonly model: string
      readonly baseUrl: string
      readonly style?: Auth
      readonly project?: string
      readonly location?: string
    }
  /** From here on these are asked, each when the one before cannot answer: `provider/model`. */
  | { readonly kind: 'chosen'; readonly models: readonly string[] }
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** The tools that the model is told of from here on. */
  | { readonly kind: 'tools'; readonly tools: readonly ToolSpec[] }
  /** The model is asked here; without `turns`, with the history of the session. */
  | ({
      readonly kind: 'ask'
      readonly key: string
      readonly turns?: readonly Turn[]
    } & Pick<Request, 'session' | 'prompt' | 'params' | 'toolChoice'>)

/** A recording: the lines of its session, and its exchanges in their order. */
export interface Recorded {
  readonly lines: readonly Line[]
  readonly exchanges: readonly (Cassette | Refused)[]
}

/** Reads a recording; complains in a sentence about what is none. */
export function readRecording(folder: string): Recorded {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    throw new Complaint(`there is no folder ${folder} that can be read`)
  }
  if (!names.includes('session.jsonl')) throw new Complaint(`${folder} holds no recording: it has no session.jsonl`)
  const text = readFileSync(join(folder, 'session.jsonl'), 'utf8')
  // The last line may be half: the process may have been killed while it wrote.
  const lines = text.split('\n').flatMap((line) => {
    const json = parsed(line)
    return isObject(json) && typeof json['kind'] === 'string' ? [json as unknown as Line] : []
  })
  const exchanges = names
    .filter((name) => /^\d+\.json$/.test(name))
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => {
      const json = parsed(readFileSync(join(folder, name), 'utf8'))
      if (!isObject(json) || !('request' in json || 'refused' in json))
        throw new Complaint(`${join(folder, name)} is no recorded exchange`)
      return json as unknown as Cassette | Refused
    })
  return { lines, exchanges }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
