import { fstatSync, read, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { UserError } from './user-error.ts'
import { getErrorMessage } from '../model/error-message.ts'

/**
 * Reads standard input to its end, unless it is a terminal or a device. After a second without data the user is told what
 * it waits for. `process.stdin` is not touched: that would make a later read fail instead of waiting.
 */
export async function readStdin(): Promise<string> {
  if (isatty(0)) return ''
  try {
    const stats = fstatSync(0)
    if (stats.isFile()) return readFileSync(0, 'utf8').trim()
    return stats.isFIFO() || stats.isSocket() ? (await readToEnd()).trim() : ''
  } catch (error) {
    throw new UserError(`standard input cannot be read: ${getErrorMessage(error)}`)
  }
}

async function readToEnd(): Promise<string> {
  const chunks: Buffer[] = []
  const noticeTimer = setTimeout(() => {
    if (chunks.length === 0) process.stderr.write(WAITING_NOTICE)
  }, NOTICE_DELAY_MS)
  try {
    for (;;) {
      const chunk = await readChunk()
      // Another process may have made the pipe non-blocking.
      if (chunk === 'no-data') await new Promise((resolve) => setTimeout(resolve, READ_RETRY_MS))
      else if (chunk.length === 0) return Buffer.concat(chunks).toString()
      else chunks.push(chunk)
    }
  } finally {
    clearTimeout(noticeTimer)
  }
}

/** The next bytes; empty at the end. */
function readChunk(): Promise<Buffer | 'no-data'> {
  return new Promise((resolve, reject) => {
    read(0, Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null, (error, length, buffer) => {
      if (!error) resolve(buffer.subarray(0, length))
      else if (error.code === 'EOF') resolve(Buffer.alloc(0))
      else if (error.code === 'EAGAIN') resolve('no-data')
      else reject(error)
    })
  })
}

const CHUNK_BYTES = 65_536
const READ_RETRY_MS = 20
const NOTICE_DELAY_MS = 1000
const WAITING_NOTICE = '… Waiting for standard input to close. To use none: dragoman … < /dev/null\n'
