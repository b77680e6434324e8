import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../model/json.ts'
import type { ModelRequest, ToolSpec } from '../../model/request.ts'
import type { Turn } from '../../model/turn.ts'
import type { ProviderDefinition } from '../../provider/index.ts'
import type { AuthStyle } from '../../wire/endpoint.ts'
import type { RecordedExchange, OmittedExchange } from '../../provider/recording.ts'
import type { Entry } from '../../session/log/entry.ts'
import { isEntry } from '../../session/log/entry-schema.ts'
import { UserError } from '../user-error.ts'

/** A line of what is recorded of a session, beside its exchanges. */
export type RecordingLine =
  | { readonly kind: 'start'; readonly dragoman: string }
  /** A session begins, or is taken up; all its entries follow. */
  | { readonly kind: 'session'; readonly id: string; readonly folder: string }
  | {
      readonly kind: 'model'
      readonly row: ProviderDefinition
      readonly model: string
      readonly baseUrl: string
      readonly style?: AuthStyle
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
    } & Pick<ModelRequest, 'session' | 'prompt' | 'params' | 'toolChoice'>)

/** A recording: the lines of its session, and its exchanges in their order. */
export interface SessionRecording {
  readonly lines: readonly RecordingLine[]
  readonly exchanges: readonly (RecordedExchange | OmittedExchange)[]
}

/** Reads a recording; complains in a sentence about what is none. */
export function readRecording(folder: string): SessionRecording {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    throw new UserError(`there is no folder ${folder} that can be read`)
  }
  if (!names.includes('session.jsonl')) throw new UserError(`${folder} holds no recording: it has no session.jsonl`)
  const exchanges = names
    .filter((name) => /^\d+\.json$/.test(name))
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name, at) => {
      const json = tryParseJson(readFileSync(join(folder, name), 'utf8'))
      if (!isRecordedExchange(json)) throw new UserError(`${join(folder, name)} is no recorded exchange`)
      if (json.number !== at + 1) throw new UserError(`${folder} is damaged: exchange ${at + 1} is missing`)
      return json
    })
  return { lines: readRecordingLines(join(folder, 'session.jsonl')), exchanges }
}

/** The last line may be half: the process may have been killed while it wrote. All others must be whole. */
function readRecordingLines(path: string): RecordingLine[] {
  const texts = readFileSync(path, 'utf8').split('\n')
  return texts.flatMap((text, at) => {
    const json = tryParseJson(text)
    if (isRecordingLine(json)) return [json]
    if (at === texts.length - 1) return []
    throw new UserError(`${path} is damaged in line ${at + 1}`)
  })
}

function isRecordedExchange(json: unknown): json is RecordedExchange | OmittedExchange {
  if (!isObject(json) || typeof json['number'] !== 'number') return false
  if (typeof json['refused'] === 'string') return true
  const { request, response = {} } = json
  if (!isObject(request) || typeof request['body'] !== 'string' || !isObject(request['headers'])) return false
  return isObject(response) && Array.isArray(response['chunks'] ?? []) && isObject(response['headers'] ?? {})
}

function isRecordingLine(json: unknown): json is RecordingLine {
  if (!isObject(json)) return false
  const { kind, row, model, entry } = json
  if (kind === 'model') return isObject(row) && typeof row['id'] === 'string' && typeof model === 'string'
  if (kind === 'entry') return isEntry(entry)
  if (kind === 'chosen') return Array.isArray(json['models'])
  if (kind === 'tools') return Array.isArray(json['tools'])
  return typeof kind === 'string'
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
