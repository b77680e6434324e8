import type { Disk } from '../disk.ts'

/** Does a path name settings of a repository, which may hold a key: in an address, or in a header for it? */
const SETTINGS = /(?:^|\/)(?:\.git\/(?:.*\/)?config(?:\.worktree)?|\.gitmodules|\.hg\/hgrc)$/i

/** Does a text hold an address with a password or a token in it, or a header that git sends? */
export function holdsKey(text: string): boolean {
  return /:\/\/[^\s/@]*:[^\s/@]+@|:\/\/[^\s/@:]{16,}@|extraheader/i.test(text)
}

/** Says whether a file is the settings of a repository, and a key is in them. */
export function isRepositoryKey(path: string, disk: Disk): boolean {
  if (!SETTINGS.test(path)) return false
  const bytes = disk.read(path)
  return bytes !== undefined && holdsKey(Buffer.from(bytes).toString('utf8'))
}
