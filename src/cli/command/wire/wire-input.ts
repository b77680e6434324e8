import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject, type Json, stringOrEmpty, tryParseJson } from '../../../model/json.ts'
import type { WireId } from '../../../model/turn.ts'
import { isWireId, wireIds } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

export interface WireRecording {
  readonly id: string
  readonly wire: WireId
  readonly model: string
  readonly request?: Record<string, unknown>
  readonly response?: Record<string, unknown>
}

export function readInput(file: string | undefined): Buffer {
  try {
    return readFileSync(file === undefined || file === '-' ? 0 : file)
  } catch (error) {
    throw new UserError(`${file ?? 'standard input'} cannot be read: ${getErrorMessage(error)}`)
  }
}

export function readJsonInput(file: string | undefined): unknown {
  try {
    return JSON.parse(readInput(file).toString('utf8'))
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`${file ?? 'standard input'} is not valid JSON: ${getErrorMessage(error)}`)
  }
}

export function parseWireOption(name: string | undefined): WireId {
  if (name === undefined) throw new UserError(`--wire is missing; it must be one of ${wireIds.join(', ')}`)
  if (!isWireId(name)) throw new UserError(`--wire must be one of ${wireIds.join(', ')}, not “${name}”`)
  return name
}

/** What a recording must contain: a response to decode, or a conversation to encode. */
type RecordingContent = 'response' | 'conversation'

/** The recordings below a folder with this content, sorted by path. Other files are named on standard error. */
export function* findRecordings(folder: string, wanted: RecordingContent): Generator<WireRecording> {
  const skippedFiles: string[] = []
  let found = 0
  for (const file of listJsonFiles(folder)) {
    const recording = parseRecordingFile(file)
    const content = wanted === 'response' ? recording?.response : recording?.request?.['conversation']
    if (recording && content !== undefined) {
      found++
      yield recording
    } else skippedFiles.push(basename(file))
  }
  if (found === 0) throw new UserError(`${folder} has no recording with a ${wanted}; see docs/wire.md`)
  if (skippedFiles.length === 0) return
  const more = skippedFiles.length > MAX_NAMES_SHOWN ? ` and ${skippedFiles.length - MAX_NAMES_SHOWN} more` : ''
  process.stderr.write(
    `dragoman: skipped files without a ${wanted}: ${skippedFiles.slice(0, MAX_NAMES_SHOWN).join(', ')}${more}\n`,
  )
}

const MAX_NAMES_SHOWN = 5

function parseRecordingFile(file: string): WireRecording | undefined {
  const value = tryParseJson(readInput(file).toString('utf8'))
  if (!isObject(value) || typeof value['id'] !== 'string' || typeof value['wire'] !== 'string') return undefined
  if (!isWireId(value['wire'])) return undefined
  return {
    id: value['id'],
    wire: value['wire'],
    model: stringOrEmpty(value['model']) || 'model',
    ...(isObject(value['request']) && { request: value['request'] }),
    ...(isObject(value['response']) && { response: value['response'] }),
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
    throw new UserError(`${folder} cannot be read: ${getErrorMessage(error)}`)
  }
}

export function printJson(value: Json): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
