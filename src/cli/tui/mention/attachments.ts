import { readdirSync, statSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'
import { isInsideFolder } from '../../../model/inside-folder.ts'
import type { UserTurn } from '../../../model/turn.ts'
import { expandHome } from '../../paths/folders.ts'
import { describeFileProblem, readProjectBytes } from '../../paths/project-file.ts'
import { findMentions } from './mentions.ts'

type UserParts = UserTurn['parts']

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
}

/** Is this an image or a PDF, by its name? */
export function isMediaFile(path: string): boolean {
  return MEDIA_TYPES[extname(path).toLowerCase()] !== undefined
}

/** A longer file is only named; the model reads what it needs. */
const MAX_TEXT_BYTES = 100_000

/** No vendor accepts larger media. */
const MAX_MEDIA_BYTES = 32 * 2 ** 20

/** A message with the files and resources that it mentions by @. */
export function attachMentionedFiles(
  text: string,
  folder: string,
  resolveMention: (name: string) => UserParts | undefined,
): UserParts {
  const more = findMentionedFiles(text, folder).flatMap(({ path, name }): UserParts => {
    const found = resolveMention(name) ?? readAttachment(path, name, folder)
    return 'problem' in found ? [] : found
  })
  return [{ kind: 'text', text }, ...more]
}

export function findAttachmentProblems(
  text: string,
  folder: string,
  resolveMention: (name: string) => UserParts | undefined,
): string[] {
  return findMentionedFiles(text, folder).flatMap(({ path, name }) => {
    const found = resolveMention(name) ?? readAttachment(path, name, folder)
    return 'problem' in found ? [found.problem] : []
  })
}

function findMentionedFiles(text: string, folder: string): { path: string; name: string }[] {
  const all = findMentions(text).map((word) => {
    const name = word.replace(/[.,;:!?)]+$/, '')
    return { path: resolve(folder, expandHome(name)), name }
  })
  return all.filter(({ path, name }, at) => name !== '' && all.findIndex((one) => one.path === path) === at)
}

/** A name inside the workspace must not lead outside through a link. */
function readAttachment(path: string, name: string, folder: string): UserParts | { readonly problem: string } {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return listFolder(path, name)
  const mime = MEDIA_TYPES[extname(path).toLowerCase()]
  const within = isInsideFolder(path, folder) ? { within: folder } : {}
  const read = readProjectBytes(path, { maxBytes: mime === undefined ? MAX_TEXT_BYTES : MAX_MEDIA_BYTES, ...within })
  if ('problem' in read) return { problem: `@${name} is sent as text: ${describeFileProblem(read)}` }
  const { bytes, isCut } = read
  if (mime !== undefined && isCut) return { problem: `@${name} is sent as text: the file is too large to attach` }
  if (mime !== undefined) return [{ kind: 'media', mime, data: bytes.toString('base64'), name: basename(path) }]
  if (isCut) return { problem: `@${name} is sent as a name: the file is long, so the model reads what it needs` }
  if (bytes.includes(0)) return { problem: `@${name} is sent as a name: the file is not text` }
  return [{ kind: 'text', text: `--- ${name} ---\n${bytes.toString('utf8')}\n--- end of ${name} ---`, name }]
}

/** The names in a folder; the model reads the files that it needs. */
function listFolder(path: string, name: string): UserParts | { readonly problem: string } {
  const entries = tryOrUndefined(() => readdirSync(path, { withFileTypes: true }))
  if (!entries) return { problem: `@${name} is sent as text: the folder cannot be read` }
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort()
  const more = names.length - MAX_FOLDER_NAMES
  const rows = [...names.slice(0, MAX_FOLDER_NAMES), ...(more > 0 ? [`(${more} more)`] : [])]
  return [{ kind: 'text', text: `--- folder ${name} ---\n${rows.join('\n')}\n--- end of ${name} ---`, name }]
}

const MAX_FOLDER_NAMES = 500
