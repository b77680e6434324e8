import { fstatSync, read, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { UserError } from './user-error.ts'
import { getErrorMessage } from '../model/error-message.ts'

/**
 * All that is piped in, however slowly it comes; a pipe that says nothing and stays open is told of. A terminal and
 * /dev/null are no pipe; and `process.stdin` is not touched, because that would make a later read give up where it should
 * wait.
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
      // Somebody has set the pipe not to wait.
      if (chunk === 'nothing yet') await new Promise((resolve) => setTimeout(resolve, READ_RETRY_MS))
      else if (chunk.length === 0) return Buffer.concat(chunks).toString()
      else chunks.push(chunk)
    }
  } finally {
    clearTimeout(noticeTimer)
  }
}

/** The next bytes, in a thread of their own; none at the end. */
function readChunk(): Promise<Buffer | 'nothing yet'> {
  return new Promise((resolve, reject) => {
    read(0, Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null, (error, length, buffer) => {
      if (!error) resolve(buffer.subarray(0, length))
      else if (error.code === 'EOF') resolve(Buffer.alloc(0))
      else if (error.code === 'EAGAIN') resolve('nothing yet')
      else reject(error)
    })
  })
}

const CHUNK_BYTES = 65_536
const READ_RETRY_MS = 20
const NOTICE_DELAY_MS = 1000
const WAITING_NOTICE =
  '… Waiting for the end of standard input, which is a pipe that is still open. To use none: dragoman … < /dev/null\n'
