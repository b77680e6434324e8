import { closeSync, fsyncSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { createPrivateFolder, fsyncFolder, writeAllBytes } from './durable-write.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/**
 * The file of a log was moved, removed or replaced while it was being written. What was written is still in the open file:
 * it is written anew in its place, or beside what stands there now. Gives the sentence for the person.
 */
export function restoreLog(id: string, path: string, from: number): string {
  for (const name of [id, ...Array.from({ length: 9 }, (_, at) => `${id}-copy${at + 1}`)]) {
    const target = path.replace(/[^/\\]*$/, `${name}.jsonl`)
    try {
      createPrivateFolder(dirname(target)).forEach(fsyncFolder)
      const handle = openSync(target, 'wx', 0o600)
      try {
        copyBytes(from, handle)
        fsyncSync(handle)
      } finally {
        closeSync(handle)
      }
      fsyncFolder(dirname(target))
      return `the log of the session ${id} was moved, removed or replaced while the session ran; it was written anew, and dragoman --resume ${name} goes on`
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue
      return `the log of the session ${id} was moved, removed or replaced while the session ran, and cannot be written anew (${getErrorMessage(error)}); nothing more is done in it`
    }
  }
  return `the log of the session ${id} was replaced while the session ran; nothing more is done in it`
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
