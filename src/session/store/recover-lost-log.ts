import { readSync } from 'node:fs'
import { dirname } from 'node:path'
import { createPrivateFolder, fsyncFolder, writeAllBytes, writeDurableFile } from './durable-write.ts'
import { getErrorCode } from './errors.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/**
 * Saves a log whose file was moved, removed or replaced while it was open. The content is still in the open file: it is
 * copied to the old path, or beside it if that is taken. Returns the error message.
 */
export function restoreLog(id: string, path: string, from: number): string {
  for (const name of [id, ...Array.from({ length: 9 }, (_, at) => `${id}-copy${at + 1}`)]) {
    const target = path.replace(/[^/\\]*$/, `${name}.jsonl`)
    try {
      createPrivateFolder(dirname(target)).forEach(fsyncFolder)
      writeDurableFile(target, 'wx', (handle) => copyBytes(from, handle))
      fsyncFolder(dirname(target))
      return `the log of the session ${id} was moved, removed or replaced during the session; it was saved again, continue with dragoman --resume ${name}`
    } catch (error) {
      if (getErrorCode(error) === 'EEXIST') continue
      return `the log of the session ${id} was moved, removed or replaced during the session and cannot be saved again (${getErrorMessage(error)}), so the run was stopped`
    }
  }
  return `the log of the session ${id} was replaced during the session, so the run was stopped`
}

function copyBytes(from: number, to: number): void {
  const chunk = Buffer.allocUnsafe(2 ** 18)
  for (let at = 0; ;) {
    const read = readSync(from, chunk, 0, chunk.length, at)
    if (read === 0) return
    writeAllBytes(to, chunk.subarray(0, read))
    at += read
  }
}
