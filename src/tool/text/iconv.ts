import iconv from 'iconv-lite'

/** For encodings that Node cannot write. */
export function decodeWithIconv(bytes: Uint8Array, name: string): string {
  return iconv.decode(Buffer.from(bytes), name, { stripBOM: false })
}

/** Characters that the encoding lacks become a question mark. */
export function encodeWithIconv(text: string, name: string): Buffer {
  return iconv.encode(text, name, { addBOM: false })
}
