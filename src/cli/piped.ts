import { fstatSync, read, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { Complaint } from './exit.ts'

/**
 * All that is piped in, however slowly it comes; a pipe that says nothing and stays open is told of. A terminal and
 * /dev/null are no pipe; and `process.stdin` is not touched, because that would make a later read give up where it should
 * wait.
 */
export async function readPiped(): Promise<string> {
  if (isatty(0)) return ''
  try {
    const kind = fstatSync(0)
    if (kind.isFile()) return readFileSync(0, 'utf8').trim()
    return kind.isFIFO() || kind.isSocket() ? (await readToEnd()).trim() : ''
  } catch (error) {
    throw new Complaint(`standard input cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function readToEnd(): Promise<string> {
  const pieces: Buffer[] = []
  const notice = setTimeout(() => {
    if (pieces.length === 0) process.stderr.write(NOTICE)
  }, NOTICE_MS)
  try {
    for (;;) {
      const piece = await readPiece()
      // Somebody has set the pipe not to wait.
      if (piece === 'nothing yet') await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      else if (piece.length === 0) return Buffer.concat(pieces).toString()
      else pieces.push(piece)
    }
  } finally {
    clearTimeout(notice)
  }
}

/** The next bytes, in a thread of their own; none at the end. */
function readPiece(): Promise<Buffer | 'nothing yet'> {
  return new Promise((resolve, reject) => {
    read(0, Buffer.allocUnsafe(PIECE), 0, PIECE, null, (error, length, buffer) => {
      if (!error) resolve(buffer.subarray(0, length))
      else if (error.code === 'EOF') resolve(Buffer.alloc(0))
      else if (error.code === 'EAGAIN') resolve('nothing yet')
      else reject(error)
    })
  })
}

const PIECE = 65_536
const RETRY_MS = 20
const NOTICE_MS = 1000
const NOTICE =
  '… Waiting for the end of standard input, which is a pipe that is still open. To use none: dragoman … < /dev/null\n'
