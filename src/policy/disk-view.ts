/** What the policy must know of the disk to judge a path or a command. The host hands it in. */
export interface DiskView {
  /** The path that a path really means, all links followed; nothing if that cannot be said, as in a loop of links. */
  realPath(path: string): string | undefined
  /** What is there, links followed. */
  kind(path: string): 'file' | 'folder' | 'other' | undefined
  /** The bytes of a file of a reasonable size. */
  read(path: string): Uint8Array | undefined
  /** What stands in a folder, links not followed; nothing if it cannot be listed. */
  list(path: string): readonly DiskEntry[] | undefined
  /** Does this name exist, even as a link that leads nowhere? */
  exists(path: string): boolean
  /** Where a program lies that is started by its bare name. */
  findProgram(name: string): string | undefined
}

/** A name in a folder. */
export interface DiskEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

/** Text as text: for questions that the disk cannot be asked about. Nothing is known of it. */
export const NO_DISK_VIEW: DiskView = {
  realPath: (path) => path,
  kind: () => undefined,
  read: () => undefined,
  list: () => undefined,
  exists: () => false,
  findProgram: () => undefined,
}
