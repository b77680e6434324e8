import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRedactor, findEnvironmentSecrets } from '../model/security/redactor.ts'
import { ensurePrivateFolder } from './paths/private-folder.ts'
import { dataFolderPath } from './paths/folders.ts'
import { getErrorMessage } from '../model/error-message.ts'

let sessionLogPath: string | undefined

/** Remembers where the log of the session is, for the case that something goes wrong that nobody has thought of. */
export function setSessionLogPath(path: string): void {
  sessionLogPath = path
}

/** What a person is told of a fault of ours, on one line; the trace goes into a file. */
export function reportCrash(error: unknown): string {
  // An error may quote whatever we had in hand.
  const { redact } = createRedactor(findEnvironmentSecrets(process.env))
  const message = redact(getErrorMessage(error).replace(/\s+/g, ' ').trim())
  const crashFile = writeCrashFile(redact(error instanceof Error ? (error.stack ?? message) : message))
  const sessionHint =
    sessionLogPath === undefined ? '' : ` The session is saved in ${sessionLogPath}; dragoman --resume goes on with it.`
  const reportHint = crashFile === undefined ? '' : ` A report is in ${crashFile}.`
  return `dragoman: this should not have happened: ${message.replace(/[.!?]?$/, '.')}${sessionHint}${reportHint}\n`
}

function writeCrashFile(text: string): string | undefined {
  const path = join(dataFolderPath(), 'fault.txt')
  try {
    ensurePrivateFolder(dirname(path))
    writeFileSync(path, `${new Date().toISOString()}\n${text}\n`, { mode: 0o600 })
    return path
  } catch {
    return undefined
  }
}
