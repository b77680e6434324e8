import type { Files } from '../../host/host.ts'
import { type TextEncoding, detectEncoding, decodeText, encodeText, UTF8_ENCODING } from './encoding.ts'
import { type LineEndings, restoreLineEndings, normalizeLineEndings } from './line-endings.ts'
import { sha256Hex } from '../../host/files/sha256.ts'

/** A text file with LF line endings, and what is needed to restore its format. */
export interface TextDocument {
  readonly text: string
  readonly lineEndings: LineEndings
  readonly encoding: TextEncoding
  readonly hash: string
}

/** Undefined if the file does not exist; a problem if it cannot be edited as text without damage. */
export async function openTextDocument(
  files: Files,
  path: string,
): Promise<TextDocument | { problem: string } | undefined> {
  const info = await files.info(path)
  if (!info) return undefined
  if (info.size > MAX_EDIT_BYTES) return { problem: `The file is too large to be edited (${info.size} bytes): ${path}` }
  const bytes = await files.read(path)
  const encoding = await detectEncoding(bytes)
  if (!encoding) return { problem: `This is a binary file, not text: ${path}` }
  const raw = await decodeText(bytes, encoding)
  const reencoded = await encodeText(raw, encoding)
  if ('missing' in reencoded || !Buffer.from(reencoded).equals(bytes)) {
    return {
      problem: `The file is not valid ${encoding.name} text, so an edit would damage other parts of it: ${path}`,
    }
  }
  const { text, lineEndings } = normalizeLineEndings(raw)
  return { text, lineEndings, encoding, hash: sha256Hex(bytes) }
}

export async function encodeTextDocument(
  before: TextDocument | undefined,
  text: string,
): Promise<{ bytes: Uint8Array } | { problem: string }> {
  const encoding = before?.encoding ?? UTF8_ENCODING
  const raw = before === undefined ? text : await restoreLineEndings(before.text, before.lineEndings, text)
  const bytes = await encodeText(raw, encoding)
  if (!('missing' in bytes)) return { bytes }
  const missingChar = JSON.stringify(bytes.missing)
  return { problem: `The text contains the character ${missingChar}, which ${encoding.name} cannot encode.` }
}

/** LF line endings, with or without one at the end as in the former text. */
export function matchFormerEnding(before: string | undefined, text: string): string {
  if (before === undefined) return text
  const normalized = text.replaceAll('\r\n', '\n')
  if (before === '' || normalized === '') return normalized
  if (!before.endsWith('\n')) return normalized.replace(/\n+$/, '')
  return normalized.endsWith('\n') ? normalized : `${normalized}\n`
}

const MAX_EDIT_BYTES = 64 * 2 ** 20
