import iconv from 'iconv-lite'

/** Decodes bytes of an encoding that Node itself cannot write. */
export function decodeWithIconv(bytes: Uint8Array, name: string): string {
  return iconv.decode(Buffer.from(bytes), name, { stripBOM: false })
}

/** Encodes text; what the encoding does not have becomes a question mark. */
export function encodeWithIconv(text: string, name: string): Buffer {
  return iconv.encode(text, name, { addBOM: false })
}
