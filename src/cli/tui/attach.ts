import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, resolve } from 'node:path'
import type { UserTurn } from '../../model/turn.ts'
import { untilde } from '../own/places.ts'
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

/** A file that is longer than this is named, and the model reads of it what it needs. */
const LONGEST = 100_000

/** What a person said, with the files that it names by @, and what else is known by name: texts and pictures go along. */
export function withAttachments(text: string, folder: string, known: (name: string) => Parts | undefined): Parts {
  const seen = new Set<string>()
  const more = mentionsIn(text).flatMap((name): Parts => {
    const path = resolve(folder, untilde(name.replace(/[.,;:!?)]+$/, '')))
    if (seen.has(path)) return []
    seen.add(path)
    return known(name) ?? attached(path, name)
  })
  return [{ kind: 'text', text }, ...more]
}

/** The names behind an @ that name nothing: what was meant as a file goes out as mere text. */
export function missingIn(text: string, folder: string, known: (name: string) => Parts | undefined): string[] {
  return mentionsIn(text)
    .map((name) => name.replace(/[.,;:!?)]+$/, ''))
    .filter((name) => name !== '' && known(name) === undefined && !existsSync(resolve(folder, untilde(name))))
}

function attached(path: string, name: string): Parts {
  try {
    const info = statSync(path)
    if (info.isDirectory()) return []
    const mime = IMAGES[extname(path).toLowerCase()]
    if (mime !== undefined)
      return [{ kind: 'media', mime, data: readFileSync(path).toString('base64'), name: basename(path) }]
    if (info.size > LONGEST) return []
    const content = readFileSync(path)
    if (content.includes(0)) return []
    return [{ kind: 'text', text: `--- ${name} ---\n${content.toString('utf8')}\n--- end of ${name} ---` }]
  } catch {
    return []
  }
}
