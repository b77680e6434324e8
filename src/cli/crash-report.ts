import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRedactor, findEnvironmentSecrets } from '../model/security/redactor.ts'
import { ensurePrivateFolder } from '../host/files/private-folder.ts'
import { getDataFolder } from './paths/folders.ts'
import { getErrorMessage } from '../model/error-message.ts'

let sessionLogPath: string | undefined

/** Remembers where the log of the session is, for a crash report. */
export function setSessionLogPath(path: string): void {
  sessionLogPath = path
}

/** The message about a bug in Dragoman, on one line; the stack trace is written to a file. */
export function reportCrash(error: unknown): string {
  // The message may quote any data, secrets too.
  const { redact } = createRedactor(findEnvironmentSecrets(process.env))
  const message = redact(getErrorMessage(error).replace(/\s+/g, ' ').trim())
  const crashFile = writeCrashFile(redact(error instanceof Error ? (error.stack ?? message) : message))
  const sessionHint =
    sessionLogPath === undefined
      ? ''
      : ` The session is saved in ${sessionLogPath}; continue it with dragoman --resume.`
  const reportHint = crashFile === undefined ? '' : ` Details are in ${crashFile}.`
  return `dragoman: internal error: ${message.replace(/[.!?]?$/, '.')}${sessionHint}${reportHint}\n`
}

function writeCrashFile(text: string): string | undefined {
  const path = join(getDataFolder(), 'fault.txt')
  try {
    ensurePrivateFolder(dirname(path))
    writeFileSync(path, `${new Date().toISOString()}\n${text}\n`, { mode: 0o600 })
    return path
  } catch {
    return undefined
  }
}
