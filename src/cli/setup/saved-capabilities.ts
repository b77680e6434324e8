import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, tryParseJson } from '../../model/json.ts'
import {
  type FindSavedCapabilities,
  type Capabilities,
  type ProviderDefinition,
  parseCapabilities,
  type Endpoint,
} from '../../provider/index.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { getConfigFolder } from '../paths/folders.ts'

function capabilitiesFilePath(): string {
  return join(getConfigFolder(), 'profiles.json')
}

/** The capabilities of a model at a URL, as `dragoman doctor --write-profile` stored them. */
export const readSavedCapabilities: FindSavedCapabilities = (row, model, baseUrl) => {
  const saved = readCapabilitiesFile()[capabilitiesKey(row, model, baseUrl)]
  if (saved === undefined) return undefined
  const facts = isObject(saved) ? parseCapabilities(saved['flags']) : undefined
  if (!facts) throw damagedFileError(`the flags of ${row.id}/${model} are invalid`)
  return facts
}

/** Stores the capabilities that the doctor detected; without any, removes those of an earlier run. Returns the file. */
export function saveCapabilities({ provider, model, baseUrl }: Endpoint, flags: Capabilities): string {
  const name = capabilitiesKey(provider, model, baseUrl)
  const date = new Date().toISOString().slice(0, 10)
  const found = Object.keys(flags).length === 0 ? {} : { [name]: { found: date, flags } }
  const path = capabilitiesFilePath()
  updatePrivateFile(path, () => {
    const { [name]: _old, ...others } = readCapabilitiesFile()
    return `${JSON.stringify({ ...others, ...found }, null, 2)}\n`
  })
  return path
}

function readCapabilitiesFile(): Readonly<Record<string, unknown>> {
  let text: string
  try {
    text = readFileSync(capabilitiesFilePath(), 'utf8')
  } catch {
    return {}
  }
  const json = tryParseJson(text)
  if (isObject(json)) return json
  throw damagedFileError('it is not a JSON object')
}

/** The same model may behave differently at another URL. */
function capabilitiesKey(row: ProviderDefinition, model: string, baseUrl: string): string {
  return `${row.id}/${model} ${baseUrl}`
}

function damagedFileError(reason: string): UserError {
  return new UserError(`${capabilitiesFilePath()} is damaged: ${reason}; fix or remove the file`, EXIT_CODE.config)
}
