import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
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

/** Every recording below a folder, in the order of their paths. Other JSON files are passed over. */
export function* recordings(folder: string): Generator<Recording> {
  for (const file of jsonFiles(folder)) {
    const value = readJson(file)
    if (!isObject(value) || typeof value['id'] !== 'string' || typeof value['wire'] !== 'string') continue
    if (!isWireId(value['wire']) || !isObject(value['response'] ?? value['request'])) continue
    yield {
      id: value['id'],
      wire: value['wire'],
      model: typeof value['model'] === 'string' ? value['model'] : 'model',
      ...(isObject(value['request']) && { request: value['request'] }),
      ...(isObject(value['response']) && { response: value['response'] }),
    }
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
