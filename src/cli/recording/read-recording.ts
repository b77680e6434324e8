import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, tryParseJson } from '../../model/json.ts'
import type { ModelRequest, ToolSpec } from '../../model/request.ts'
import type { Turn } from '../../model/turn.ts'
import type { ProviderDefinition } from '../../provider/index.ts'
import type { AuthStyle } from '../../wire/endpoint.ts'
import type { RecordedExchange, OmittedExchange } from '../../provider/recording.ts'
import type { Entry } from '../../session/log/entry.ts'
import { isEntry } from '../../session/log/entry-schema.ts'
import { UserError } from '../user-error.ts'

/** A line of `session.jsonl` of a recording. */
export type RecordingLine =
  | { readonly kind: 'start'; readonly dragoman: string }
  /** A session is opened; all its entries follow. */
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
  /** The models used from here on, each if the one before cannot answer: `provider/model`. */
  | { readonly kind: 'chosen'; readonly models: readonly string[] }
  | { readonly kind: 'entry'; readonly entry: Entry }
  /** The tools declared from here on. */
  | { readonly kind: 'tools'; readonly tools: readonly ToolSpec[] }
  /** A request to the model; without `turns`, with the history of the session. */
  | ({
      readonly kind: 'ask'
      readonly key: string
      readonly turns?: readonly Turn[]
    } & Pick<ModelRequest, 'session' | 'prompt' | 'params' | 'toolChoice' | 'output' | 'providerOptions'>)

/** A recording. The exchanges are in order. */
export interface SessionRecording {
  readonly lines: readonly RecordingLine[]
  readonly exchanges: readonly (RecordedExchange | OmittedExchange)[]
}

export function readRecording(folder: string): SessionRecording {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    throw new UserError(`the folder ${folder} does not exist or cannot be read`)
  }
  if (!names.includes('session.jsonl')) throw new UserError(`${folder} is not a recording: session.jsonl is missing`)
  const exchanges = names
    .filter((name) => /^\d+\.json$/.test(name))
    .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name, at) => {
      const json = tryParseJson(readFileSync(join(folder, name), 'utf8'))
      if (!isRecordedExchange(json)) throw new UserError(`${join(folder, name)} is not a recorded exchange`)
      if (json.number !== at + 1) throw new UserError(`${folder} is damaged: exchange ${at + 1} is missing`)
      return json
    })
  return { lines: readRecordingLines(join(folder, 'session.jsonl')), exchanges }
}

/** The last line may be incomplete, because the process was killed while it wrote. */
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
