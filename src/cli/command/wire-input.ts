import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { isWireId, wireIds } from '../../wire/wires.ts'
import { Complaint } from '../exit.ts'

/** A recorded exchange with a provider, as far as these commands use it. */
export interface Recording {
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
    throw new Complaint(`${file ?? 'standard input'} cannot be read: ${reason(error)}`)
  }
}

/** A JSON file, or JSON from standard input. */
export function readJson(file: string | undefined): unknown {
  try {
    return JSON.parse(readInput(file).toString('utf8'))
  } catch (error) {
    if (error instanceof Complaint) throw error
    throw new Complaint(`${file ?? 'standard input'} is not JSON: ${reason(error)}`)
  }
}

/** The wire that an option names. */
export function wireOption(name: string | undefined): WireId {
  if (name === undefined) throw new Complaint(`--wire is missing; it is one of ${wireIds.join(', ')}`)
  if (!isWireId(name)) throw new Complaint(`there is no wire “${name}”; it is one of ${wireIds.join(', ')}`)
  return name
}

/** What a recording must hold to be of use: an answer to decode, or a conversation to encode. */
export type Wanted = 'answer' | 'conversation'

/** Every recording below a folder that holds what is wanted, in the order of their paths. The person hears of other files. */
export function* recordings(folder: string, wanted: Wanted): Generator<Recording> {
  const strays: string[] = []
  let found = 0
  for (const file of jsonFiles(folder)) {
    const recording = recordingIn(file)
    const held = wanted === 'answer' ? recording?.response : recording?.request?.['conversation']
    if (recording && held !== undefined) {
      found++
      yield recording
    } else strays.push(basename(file))
  }
  if (found === 0) throw new Complaint(`there is no recording in ${folder} that holds ${AN[wanted]}; see docs/wire.md`)
  if (strays.length === 0) return
  const more = strays.length > SHOWN ? `, and ${strays.length - SHOWN} more` : ''
  process.stderr.write(
    `dragoman: passed over, as no recording with ${AN[wanted]} is in them: ${strays.slice(0, SHOWN).join(', ')}${more}\n`,
  )
}

const AN: Readonly<Record<Wanted, string>> = { answer: 'an answer', conversation: 'a conversation' }

/** So many names are enough to see what they have in common. */
const SHOWN = 5

function recordingIn(file: string): Recording | undefined {
  const value = parsed(readInput(file).toString('utf8'))
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function jsonFiles(folder: string): string[] {
  try {
    if (!statSync(folder).isDirectory()) return [folder]
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(folder, name))
  } catch (error) {
    throw new Complaint(`${folder} cannot be read: ${reason(error)}`)
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
