import type { IncomingMessage } from 'node:http'
import { isUtf8 } from 'node:buffer'
import { promisify } from 'node:util'
import zlib from 'node:zlib'

/** Why a body cannot be read, as an HTTP status. */
export interface BodyError {
  readonly status: number
  readonly message: string
}

/** The text of a request body, decompressed if the client compressed it. */
export async function readBody(request: IncomingMessage): Promise<string | BodyError> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += (chunk as Buffer).length
    if (length > MAX_BODY_BYTES) return TOO_LARGE
    chunks.push(chunk as Buffer)
  }
  const bytes = await decompress(Buffer.concat(chunks), request.headers['content-encoding'])
  if ('status' in bytes) return bytes
  return isUtf8(bytes) ? bytes.toString('utf8') : { status: 400, message: 'The body is not valid UTF-8.' }
}

/** More than any vendor accepts. */
const MAX_BODY_BYTES = 64 * 2 ** 20

const TOO_LARGE: BodyError = { status: 413, message: 'The body is too large: the limit is 64 MB.' }

async function decompress(bytes: Buffer, encoding = 'identity'): Promise<Buffer | BodyError> {
  if (encoding === 'identity' || bytes.length === 0) return bytes
  const decode = DECODERS.get(encoding.trim().toLowerCase())
  if (!decode) return { status: 415, message: `The content encoding ${encoding.slice(0, 50)} is not supported.` }
  try {
    return await decode(bytes)
  } catch {
    return { status: 400, message: `The body is not valid ${encoding}, or is too large.` }
  }
}

type Decoder = (bytes: Buffer) => Promise<Buffer>

const options = { maxOutputLength: MAX_BODY_BYTES }

// Newer versions of Node have zstd.
const { zstdDecompress } = zlib as { zstdDecompress?: typeof zlib.gunzip }

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', (bytes) => promisify(zlib.gunzip)(bytes, options)],
  ['deflate', (bytes) => promisify(zlib.inflate)(bytes, options)],
  ['br', (bytes) => promisify(zlib.brotliDecompress)(bytes, options)],
  ...(zstdDecompress ? [['zstd', (bytes) => promisify(zstdDecompress)(bytes)] as [string, Decoder]] : []),
])
