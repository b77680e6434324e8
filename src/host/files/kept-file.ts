import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readGitBlob } from '../process/git-files.ts'

/** A file whose content can be had later. */
export interface KeptFile {
  /** Changes whenever the file does. */
  readonly stamp: string
  readonly mode: number
  /** The name that git gives to this content. */
  readonly object: string
  /** Absent if the git repository has the object. */
  readonly content?: Buffer
}

/** `tracked` is the object that the repository has for this path. */
export async function keepFile(
  folder: string,
  { path, stamp, mode }: Pick<KeptFile, 'stamp' | 'mode'> & { readonly path: string },
  tracked: string | undefined,
): Promise<KeptFile | undefined> {
  const content = await readFile(join(folder, path)).catch(() => undefined)
  if (!content) return undefined
  const object = hashGitBlob(content, tracked?.length)
  return { stamp, mode, object, ...(object !== tracked && { content }) }
}

export async function readKeptContent(
  { content, object }: KeptFile,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Buffer | undefined> {
  if (content) return content
  const bytes = await readGitBlob(folder, object, env)
  return bytes && hashGitBlob(bytes, object.length) === object ? bytes : undefined
}

/** Repositories name objects by SHA-1 or, with longer names, by SHA-256. */
function hashGitBlob(bytes: Buffer, length = 0): string {
  const hash = createHash(length > 40 ? 'sha256' : 'sha1')
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
