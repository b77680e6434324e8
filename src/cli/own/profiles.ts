import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../../model/json.ts'
import type { Learnt } from '../../provider/resolve.ts'
import type { Facts, Row } from '../../provider/row.ts'
import { factsFrom } from '../../provider/row-from.ts'
import type { Target } from '../../provider/target.ts'
import { Complaint, EXIT } from '../exit.ts'
import { changeOwnFile } from './file.ts'
import { configFolder } from './places.ts'

/** Where the flags lie that examinations have found out. */
export function profilesFile(): string {
  return join(configFolder(), 'profiles.json')
}

/** The flags of a model at an address, as `dragoman doctor --write-profile` has kept them. */
export const learntFacts: Learnt = (row, model, baseUrl) => {
  const kept = readProfiles()[nameOf(row, model, baseUrl)]
  if (kept === undefined) return undefined
  const facts = isObject(kept) ? factsFrom(kept['flags']) : undefined
  if (!facts) throw wrong(`the flags of ${row.id}/${model}`)
  return facts
}

/** Keeps what an examination has found out; without a flag, forgets what an earlier one found. Gives the file. */
export function keepFacts({ row, model, baseUrl }: Target, flags: Facts): string {
  const name = nameOf(row, model, baseUrl)
  const found = Object.keys(flags).length === 0 ? {} : { [name]: { found: today(), flags } }
  const path = profilesFile()
  changeOwnFile(path, () => {
    const { [name]: _old, ...others } = readProfiles()
    return `${JSON.stringify({ ...others, ...found }, null, 2)}\n`
  })
  return path
}

function readProfiles(): Readonly<Record<string, unknown>> {
  let text: string
  try {
    text = readFileSync(profilesFile(), 'utf8')
  } catch {
    return {}
  }
  try {
    const json: unknown = JSON.parse(text)
    if (isObject(json)) return json
  } catch {
    // It is said below.
  }
  throw wrong('what stands there')
}

/** The same model may run behind several addresses, with other habits behind each. */
function nameOf(row: Row, model: string, baseUrl: string): string {
  return `${row.id}/${model} ${baseUrl}`
}

function today(): string {
  return new Date().toISOString().slice(0, 10)
}

function wrong(what: string): Complaint {
  return new Complaint(`${profilesFile()} is damaged: ${what} cannot be read; remove the file, or mend it`, EXIT.config)
}
