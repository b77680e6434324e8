import type { Readable, Transform } from 'node:stream'
import type { WebPage } from '../host.ts'
import type { WebResponse } from './send-request.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export async function readWebBody(
  response: WebResponse,
  limit: number,
): Promise<Omit<WebPage, 'url' | 'status'> | { readonly problem: string }> {
  const stream = await decompress(response)
  if ('problem' in stream) {
    response.discard()
    return stream
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream.body) {
    const bytes = chunk as Buffer
    chunks.push(bytes.subarray(0, limit - size))
    size += bytes.length
    if (size > limit) break
  }
  response.discard()
  const bytes = Buffer.concat(chunks)
  const [type = '', ...more] = (response.headers['content-type'] ?? '').split(';').map((part) => part.trim())
  const mime = type.toLowerCase() || (bytes.includes(0) ? 'application/octet-stream' : 'text/plain')
  const head = { type: mime, size: bytes.length, ...(size > limit && { cut: true as const }) }
  if (!isTextType(mime)) return head
  const declaredCharset = more.map((part) => /^charset="?([^"]+)/i.exec(part)?.[1]).find((one) => one !== undefined)
  return { ...head, text: decodeText(bytes, declaredCharset ?? detectCharset(bytes, mime)) }
}

async function decompress(response: WebResponse): Promise<{ readonly body: Readable } | { readonly problem: string }> {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding === 'identity' || encoding === '') return response
  const zlib = await import('node:zlib')
  const createDecompressor = DECOMPRESSORS[encoding]
  // Nested compression only serves to fill the memory.
  if (!createDecompressor) return { problem: `The content encoding is not supported (${encoding.slice(0, 40)}).` }
  const { pipeline } = await import('node:stream')
  return { body: pipeline(response.body, createDecompressor(zlib), () => undefined) }
}

const DECOMPRESSORS: Readonly<Record<string, (zlib: typeof import('node:zlib')) => Transform>> = {
  gzip: (zlib) => zlib.createGunzip(),
  'x-gzip': (zlib) => zlib.createGunzip(),
  deflate: (zlib) => zlib.createInflate(),
  br: (zlib) => zlib.createBrotliDecompress(),
}

function isTextType(type: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml|toml|javascript|ecmascript|x-sh|x-ndjson|graphql|x-httpd-php)$/.test(type)
}

/** The byte order mark, or what the page declares. */
function detectCharset(bytes: Buffer, type: string): string {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  const head = /html|xml/.test(type) ? bytes.toString('latin1', 0, 2048) : ''
  return (
    /<meta[^>]+charset\s*=\s*["']?([\w-]+)|<\?xml[^>]+encoding=["']([\w-]+)/i.exec(head)?.slice(1).find(Boolean) ??
    'utf-8'
  )
}

function decodeText(bytes: Buffer, charset: string): string {
  return tryOrUndefined(() => new TextDecoder(charset).decode(bytes)) ?? new TextDecoder().decode(bytes)
}
