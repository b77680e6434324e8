import type { DiskView } from '../disk-view.ts'

/** Configuration files of a repository, which may contain a key in a URL or in a header. */
const REPOSITORY_SETTINGS_PATH = /(?:^|\/)(?:\.git\/(?:.*\/)?config(?:\.worktree)?|\.gitmodules|\.hg\/hgrc)$/i

/** Does a text contain a URL with a password or a token, or a header that git sends? */
export function containsCredentials(text: string): boolean {
  return /:\/\/[^\s/@]*:[^\s/@]+@|:\/\/[^\s/@:]{16,}@|extraheader/i.test(text)
}

export function holdsRepositoryCredentials(path: string, disk: DiskView): boolean {
  if (!REPOSITORY_SETTINGS_PATH.test(path)) return false
  const bytes = disk.read(path)
  return bytes !== undefined && containsCredentials(Buffer.from(bytes).toString('utf8'))
}
