import type { DiskView } from '../disk-view.ts'

/** Does a path name settings of a repository, which may hold a key: in an address, or in a header for it? */
const REPOSITORY_SETTINGS_PATH = /(?:^|\/)(?:\.git\/(?:.*\/)?config(?:\.worktree)?|\.gitmodules|\.hg\/hgrc)$/i

/** Does a text hold an address with a password or a token in it, or a header that git sends? */
export function containsCredentials(text: string): boolean {
  return /:\/\/[^\s/@]*:[^\s/@]+@|:\/\/[^\s/@:]{16,}@|extraheader/i.test(text)
}

/** Says whether a file is the settings of a repository, and a key is in them. */
export function holdsRepositoryCredentials(path: string, disk: DiskView): boolean {
  if (!REPOSITORY_SETTINGS_PATH.test(path)) return false
  const bytes = disk.read(path)
  return bytes !== undefined && containsCredentials(Buffer.from(bytes).toString('utf8'))
}
