import type { Readable, Transform } from 'node:stream'
import type { Answer } from './web-exchange.ts'

/** The body of a page: its kind, and its text where it has one. */
export interface Body {
  readonly type: string
  readonly size: number
  readonly text?: string
  /** There was more, which was not read. */
  readonly cut?: true
}

/** Reads a body, unpacked, up to a limit: what unpacks to more than that is not unpacked further. */
export async function readBody(answer: Answer, limit: number): Promise<Body | { readonly problem: string }> {
  const stream = await unpacked(answer)
  if ('problem' in stream) {
    answer.discard()
    return stream
  }
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of stream.body) {
    const bytes = piece as Buffer
    pieces.push(bytes.subarray(0, limit - size))
    size += bytes.length
    if (size > limit) break
  }
  answer.discard()
  const bytes = Buffer.concat(pieces)
  const [type = '', ...more] = (answer.headers['content-type'] ?? '').split(';').map((part) => part.trim())
  const mime = type.toLowerCase() || (bytes.includes(0) ? 'application/octet-stream' : 'text/plain')
  const head = { type: mime, size: bytes.length, ...(size > limit && { cut: true as const }) }
  if (!isText(mime)) return head
  const said = more.map((part) => /^charset="?([^"]+)/i.exec(part)?.[1]).find((one) => one !== undefined)
  return { ...head, text: decoded(bytes, said ?? charsetIn(bytes, mime)) }
}

async function unpacked(answer: Answer): Promise<{ readonly body: Readable } | { readonly problem: string }> {
  const packing = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (packing === 'identity' || packing === '') return answer
  const zlib = await import('node:zlib')
  const unpack = UNPACK[packing]
  // One packing inside another serves nobody but those who want to fill our memory.
  if (!unpack) return { problem: `The page is packed in a way that is not known (${packing.slice(0, 40)}).` }
  const { pipeline } = await import('node:stream')
  return { body: pipeline(answer.body, unpack(zlib), () => undefined) }
}

const UNPACK: Readonly<Record<string, (zlib: typeof import('node:zlib')) => Transform>> = {
  gzip: (zlib) => zlib.createGunzip(),
  'x-gzip': (zlib) => zlib.createGunzip(),
  deflate: (zlib) => zlib.createInflate(),
  br: (zlib) => zlib.createBrotliDecompress(),
}

function isText(type: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml|toml|javascript|ecmascript|x-sh|x-ndjson|graphql|x-httpd-php)$/.test(type)
}

/** A mark at the beginning, or what an HTML page says of itself. */
function charsetIn(bytes: Buffer, type: string): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  const head = /html|xml/.test(type) ? bytes.toString('latin1', 0, 2048) : ''
  return (
    /<meta[^>]+charset\s*=\s*["']?([\w-]+)|<\?xml[^>]+encoding=["']([\w-]+)/i.exec(head)?.slice(1).find(Boolean) ??
    'utf-8'
  )
}

function decoded(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes)
  }
}
