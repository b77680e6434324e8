import { createHash } from 'node:crypto'
import type { Files } from '../../host/host.ts'
import { type Coding, codingOf, decode, encode, UTF8 } from './coding.ts'
import { type LineEnds, joinLines, splitLines } from './line-ends.ts'

/** A text file: its text with plain line ends, and what it takes to write it back as it was. */
export interface Document {
  readonly text: string
  readonly ends: LineEnds
  readonly coding: Coding
  readonly hash: string
}

/** Reads a file to edit it. Nothing if it is not there; a sentence if it cannot be edited as text without harm. */
export async function openDocument(files: Files, path: string): Promise<Document | { problem: string } | undefined> {
  const info = await files.info(path)
  if (!info) return undefined
  if (info.size > MAX_SIZE) return { problem: `The file is too large to be edited (${info.size} bytes): ${path}` }
  const bytes = await files.read(path)
  const coding = await codingOf(bytes)
  if (!coding) return { problem: `This is a binary file, not text: ${path}` }
  const raw = await decode(bytes, coding)
  const back = await encode(raw, coding)
  if ('missing' in back || !Buffer.from(back).equals(bytes)) {
    return { problem: `The file is not clean ${coding.name} text, so an edit would damage other parts of it: ${path}` }
  }
  const { text, ends } = splitLines(raw)
  return { text, ends, coding, hash: hashOf(bytes) }
}

/** The bytes of a document with another text: its encoding, its mark, its line ends and its last line's end stay. */
export async function writeDocument(
  before: Document | undefined,
  text: string,
): Promise<{ bytes: Uint8Array } | { problem: string }> {
  const coding = before?.coding ?? UTF8
  const raw = before === undefined ? text : await joinLines(before.text, before.ends, text)
  const bytes = await encode(raw, coding)
  if (!('missing' in bytes)) return { bytes }
  const sign = JSON.stringify(bytes.missing)
  return { problem: `The text has the character ${sign}, which cannot be written in ${coding.name}.` }
}

/** What identifies the content of a file. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** A text with plain line ends, and with or without one at its very end as the former text had it. */
export function likeBefore(before: string | undefined, text: string): string {
  if (before === undefined) return text
  const plain = text.replaceAll('\r\n', '\n')
  if (before === '' || plain === '') return plain
  if (!before.endsWith('\n')) return plain.replace(/\n+$/, '')
  return plain.endsWith('\n') ? plain : `${plain}\n`
}

const MAX_SIZE = 64 * 2 ** 20
