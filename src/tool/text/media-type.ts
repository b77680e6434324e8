/** The media type of bytes, by their signature; a file name proves nothing. */
export function detectMediaType(bytes: Uint8Array, path: string): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 64)).toString('latin1')
  const found = MEDIA_SIGNATURES.find(([, ...signatures]) =>
    signatures.every(([at, text]) => head.startsWith(text, at)),
  )
  if (found) return found[0]
  if (head.startsWith('ftyp', 4)) {
    const brand = head.slice(8, 12)
    return MP4_BRANDS.find(([start]) => brand.startsWith(start))?.[1] ?? 'video/mp4'
  }
  if (head.startsWith('\x1AE\xDF\xA3')) return head.includes('webm') ? 'video/webm' : 'video/x-matroska'
  // The signature of a raw MP3 or AAC stream is so short that the name must agree.
  if (bytes[0] !== 0xff) return undefined
  const second = bytes[1] ?? 0
  if (path.endsWith('.mp3') && second >= 0xe0) return 'audio/mpeg'
  return path.endsWith('.aac') && second >= 0xf0 ? 'audio/aac' : undefined
}

type ByteSignature = readonly [at: number, text: string]

const MEDIA_SIGNATURES: readonly (readonly [type: string, ...ByteSignature[]])[] = [
  ['image/png', [0, '\x89PNG\r\n\x1A\n']],
  ['image/jpeg', [0, '\xFF\xD8\xFF']],
  ['image/gif', [0, 'GIF87a']],
  ['image/gif', [0, 'GIF89a']],
  ['image/webp', [0, 'RIFF'], [8, 'WEBP']],
  ['image/bmp', [0, 'BM'], [6, '\0\0\0\0'], [15, '\0\0\0']],
  ['application/pdf', [0, '%PDF-']],
  ['audio/wav', [0, 'RIFF'], [8, 'WAVE']],
  ['audio/mpeg', [0, 'ID3\x02']],
  ['audio/mpeg', [0, 'ID3\x03']],
  ['audio/mpeg', [0, 'ID3\x04']],
  ['audio/ogg', [0, 'OggS\0']],
  ['audio/flac', [0, 'fLaC\0']],
  ['audio/aiff', [0, 'FORM'], [8, 'AIF']],
  ['video/x-msvideo', [0, 'RIFF'], [8, 'AVI ']],
  ['video/mpeg', [0, '\0\0\x01\xBA']],
  ['video/mpeg', [0, '\0\0\x01\xB3']],
  ['video/x-flv', [0, 'FLV\x01']],
]

const MP4_BRANDS: readonly (readonly [start: string, type: string])[] = [
  ['heic', 'image/heic'],
  ['heix', 'image/heic'],
  ['mif1', 'image/heif'],
  ['avif', 'image/avif'],
  ['M4A', 'audio/mp4'],
  ['qt', 'video/quicktime'],
  ['3g', 'video/3gpp'],
]
