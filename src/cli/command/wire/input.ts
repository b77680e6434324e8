import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject } from '../../../model/json.ts'
import type { WireId } from '../../../model/turn.ts'
import { isWireId, wireIds } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** A recorded exchange with a provider, as far as these commands use it. */
export interface WireRecording {
  readonly id: string
  readonly wire: WireId
  readonly model: string
  readonly request?: Record<string, unknown>
  readonly response?: Record<string, unknown>
}

/** The bytes of a file, or of standard input. */
export function readInput(file: string | undefined): Buffer {
  try {
    return readFileSync(file === undefined || file === '-' ? 0 : file)
  } catch (error) {
    throw new UserError(`${file ?? 'standard input'} cannot be read: ${errorText(error)}`)
  }
}

/** A JSON file, or JSON from standard input. */
export function readJsonInput(file: string | undefined): unknown {
  try {
    return JSON.parse(readInput(file).toString('utf8'))
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`${file ?? 'standard input'} is not JSON: ${errorText(error)}`)
  }
}

/** The wire that an option names. */
export function parseWireOption(name: string | undefined): WireId {
  if (name === undefined) throw new UserError(`--wire is missing; it is one of ${wireIds.join(', ')}`)
  if (!isWireId(name)) throw new UserError(`there is no wire “${name}”; it is one of ${wireIds.join(', ')}`)
  return name
}

/** What a recording must hold to be of use: an answer to decode, or a conversation to encode. */
export type RecordingContent = 'answer' | 'conversation'

/** Every recording below a folder that holds what is wanted, in the order of their paths. The person hears of other files. */
export function* findRecordings(folder: string, wanted: RecordingContent): Generator<WireRecording> {
  const skippedFiles: string[] = []
  let found = 0
  for (const file of listJsonFiles(folder)) {
    const recording = parseRecordingFile(file)
    const content = wanted === 'answer' ? recording?.response : recording?.request?.['conversation']
    if (recording && content !== undefined) {
      found++
      yield recording
    } else skippedFiles.push(basename(file))
  }
  if (found === 0)
    throw new UserError(`there is no recording in ${folder} that holds ${CONTENT_PHRASES[wanted]}; see docs/wire.md`)
  if (skippedFiles.length === 0) return
  const more = skippedFiles.length > MAX_NAMES_SHOWN ? `, and ${skippedFiles.length - MAX_NAMES_SHOWN} more` : ''
  process.stderr.write(
    `dragoman: passed over, as no recording with ${CONTENT_PHRASES[wanted]} is in them: ${skippedFiles.slice(0, MAX_NAMES_SHOWN).join(', ')}${more}\n`,
  )
}

const CONTENT_PHRASES: Readonly<Record<RecordingContent, string>> = {
  answer: 'an answer',
  conversation: 'a conversation',
}

/** So many names are enough to see what they have in common. */
const MAX_NAMES_SHOWN = 5

function parseRecordingFile(file: string): WireRecording | undefined {
  const value = tryParseJson(readInput(file).toString('utf8'))
  if (!isObject(value) || typeof value['id'] !== 'string' || typeof value['wire'] !== 'string') return undefined
  if (!isWireId(value['wire'])) return undefined
  return {
    id: value['id'],
    wire: value['wire'],
    model: typeof value['model'] === 'string' ? value['model'] : 'model',
    ...(isObject(value['request']) && { request: value['request'] }),
    ...(isObject(value['response']) && { response: value['response'] }),
  }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function listJsonFiles(folder: string): string[] {
  try {
    if (!statSync(folder).isDirectory()) return [folder]
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(folder, name))
  } catch (error) {
    throw new UserError(`${folder} cannot be read: ${errorText(error)}`)
  }
}

function errorText(error: unknown): string {
  return getErrorMessage(error)
}
