import { readdirSync, readFileSync, statSync } from 'node:fs'
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
      /** A request of another client that was translated; it has everything. */
      readonly request?: ModelRequest
      /** A request of another client that was passed on as it was. */
      readonly forwarded?: ForwardedRequest
      /** The bytes were not recorded: the response is in the log only. */
      readonly unrecorded?: true
    } & Pick<ModelRequest, 'session' | 'prompt' | 'params' | 'toolChoice' | 'output' | 'providerOptions'>)

/** A request as it was sent. */
export interface ForwardedRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A recording. The exchanges are in order. */
export interface SessionRecording {
  readonly lines: readonly RecordingLine[]
  readonly exchanges: readonly (RecordedExchange | OmittedExchange)[]
}

/** Reads a folder that `--record` made, or a file that the inspector exported. */
export function readRecording(path: string): SessionRecording {
  let isFile: boolean
  let names: string[]
  try {
    isFile = statSync(path).isFile()
    names = isFile ? [] : readdirSync(path)
  } catch {
    throw new UserError(`the recording ${path} does not exist or cannot be read`)
  }
  return isFile ? readRecordingFile(path) : readRecordingFolder(path, names)
}

function readRecordingFile(path: string): SessionRecording {
  const json = tryParseJson(readFileSync(path, 'utf8'))
  if (!isObject(json) || !Array.isArray(json['lines']) || !Array.isArray(json['exchanges']))
    throw new UserError(`${path} is not a recording: export one from the inspector, or make a folder with --record`)
  const lines: readonly unknown[] = json['lines']
  const exchanges: readonly unknown[] = json['exchanges']
  if (!lines.every(isRecordingLine) || !exchanges.every(isRecordedExchange))
    throw new UserError(`${path} is damaged: a line or an exchange is not valid`)
  return { lines, exchanges }
}

function readRecordingFolder(folder: string, names: readonly string[]): SessionRecording {
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
