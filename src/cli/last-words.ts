import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { redactor, secretsIn } from '../model/secret.ts'
import { makeFolder } from './own/make-folder.ts'
import { dataFolder } from './own/places.ts'

let log: string | undefined

/** Remembers where the log of the session is, for the case that something goes wrong that nobody has thought of. */
export function logIn(path: string): void {
  log = path
}

/** What a person is told of a fault of ours, on one line; the trace goes into a file. */
export function lastWords(error: unknown): string {
  // An error may quote whatever we had in hand.
  const { clean } = redactor(secretsIn(process.env))
  const message = clean((error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').trim())
  const trace = keep(clean(error instanceof Error ? (error.stack ?? message) : message))
  const kept = log === undefined ? '' : ` The session is saved in ${log}; dragoman --resume goes on with it.`
  const where = trace === undefined ? '' : ` A report is in ${trace}.`
  return `dragoman: this should not have happened: ${message.replace(/[.!?]?$/, '.')}${kept}${where}\n`
}

function keep(text: string): string | undefined {
  const path = join(dataFolder(), 'fault.txt')
  try {
    makeFolder(dirname(path))
    writeFileSync(path, `${new Date().toISOString()}\n${text}\n`, { mode: 0o600 })
    return path
  } catch {
    return undefined
  }
}
