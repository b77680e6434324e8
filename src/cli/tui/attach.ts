import { statSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { isInside } from '../../host/ordinary-file.ts'
import type { UserTurn } from '../../model/turn.ts'
import { untilde } from '../own/places.ts'
import { readProjectBytes } from '../own/project-file.ts'
import { mentionsIn } from './mention.ts'

type Parts = UserTurn['parts']

const IMAGES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
}

/** Is this a file that goes along as it is, by its name? */
export function isMedia(path: string): boolean {
  return IMAGES[extname(path).toLowerCase()] !== undefined
}

/** A file that is longer than this is named, and the model reads of it what it needs. In bytes. */
const MAX_TEXT = 100_000

/** Pictures that are larger than this are refused by every vendor. */
const MAX_MEDIA = 32 * 2 ** 20

/** What a person said, with the files that it names by @, and what else is known by name: texts and pictures go along. */
export function withAttachments(text: string, folder: string, known: (name: string) => Parts | undefined): Parts {
  const more = mentioned(text, folder).flatMap(({ path, name }): Parts => {
    const found = known(name) ?? attachment(path, name, folder)
    return 'problem' in found ? [] : found
  })
  return [{ kind: 'text', text }, ...more]
}

/** Says of each name behind an @ that goes out as mere text why nothing is attached. */
export function attachmentProblems(text: string, folder: string, known: (name: string) => Parts | undefined): string[] {
  return mentioned(text, folder).flatMap(({ path, name }) => {
    const found = known(name) ?? attachment(path, name, folder)
    return 'problem' in found ? [found.problem] : []
  })
}

/** The files that a text names, each once. */
function mentioned(text: string, folder: string): { path: string; name: string }[] {
  const all = mentionsIn(text).map((word) => {
    const name = word.replace(/[.,;:!?)]+$/, '')
    return { path: resolve(folder, untilde(name)), name }
  })
  return all.filter(({ path, name }, at) => name !== '' && all.findIndex((one) => one.path === path) === at)
}

/** A name in the folder must mean a file in the folder: where a link leads is not for the project to say. */
function attachment(path: string, name: string, folder: string): Parts | { readonly problem: string } {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return []
  const mime = IMAGES[extname(path).toLowerCase()]
  const within = isInside(path, folder) ? { within: folder } : {}
  const read = readProjectBytes(path, { maxBytes: mime === undefined ? MAX_TEXT : MAX_MEDIA, ...within })
  if ('problem' in read)
    return {
      problem: read.problem === undefined ? `no file ${name}; sent as text` : `@${name} ${read.problem}; sent as text`,
    }
  const { bytes, isCut } = read
  if (mime !== undefined && isCut) return { problem: `@${name} is too large to be attached; sent as text` }
  if (mime !== undefined) return [{ kind: 'media', mime, data: bytes.toString('base64'), name: basename(path) }]
  if (isCut || bytes.includes(0)) return []
  return [{ kind: 'text', text: `--- ${name} ---\n${bytes.toString('utf8')}\n--- end of ${name} ---` }]
}
