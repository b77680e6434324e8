import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../model/json.ts'
import {
  type FindSavedCapabilities,
  type Capabilities,
  type ProviderDefinition,
  parseCapabilities,
  type Endpoint,
} from '../../provider/index.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { updatePrivateFile } from '../paths/private-file.ts'
import { configFolderPath } from '../paths/folders.ts'

/** Where the flags lie that examinations have found out. */
export function capabilitiesFilePath(): string {
  return join(configFolderPath(), 'profiles.json')
}

/** The flags of a model at an address, as `dragoman doctor --write-profile` has kept them. */
export const readSavedCapabilities: FindSavedCapabilities = (row, model, baseUrl) => {
  const saved = readCapabilitiesFile()[capabilitiesKey(row, model, baseUrl)]
  if (saved === undefined) return undefined
  const facts = isObject(saved) ? parseCapabilities(saved['flags']) : undefined
  if (!facts) throw damagedFileError(`the flags of ${row.id}/${model}`)
  return facts
}

/** Keeps what an examination has found out; without a flag, forgets what an earlier one found. Gives the file. */
export function saveCapabilities({ provider, model, baseUrl }: Endpoint, flags: Capabilities): string {
  const name = capabilitiesKey(provider, model, baseUrl)
  const found = Object.keys(flags).length === 0 ? {} : { [name]: { found: currentDate(), flags } }
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
  try {
    const json: unknown = JSON.parse(text)
    if (isObject(json)) return json
  } catch {
    // It is said below.
  }
  throw damagedFileError('what stands there')
}

/** The same model may run behind several addresses, with other habits behind each. */
function capabilitiesKey(row: ProviderDefinition, model: string, baseUrl: string): string {
  return `${row.id}/${model} ${baseUrl}`
}

function currentDate(): string {
  return new Date().toISOString().slice(0, 10)
}

function damagedFileError(what: string): UserError {
  return new UserError(
    `${capabilitiesFilePath()} is damaged: ${what} cannot be read; remove the file, or mend it`,
    EXIT_CODE.config,
  )
}
