/** Read access to the file system, passed in by the host. */
export interface DiskView {
  /** Resolves all symbolic links. Returns undefined if that fails, as in a loop of links. */
  realPath(path: string): string | undefined
  /** Follows symbolic links. */
  kind(path: string): 'file' | 'folder' | 'other' | undefined
  /** Returns undefined if the file cannot be read or is too large. */
  read(path: string): Uint8Array | undefined
  /** Does not follow symbolic links. Returns undefined if the folder cannot be listed. */
  list(path: string): readonly DiskEntry[] | undefined
  /** Also true for a broken symbolic link. */
  exists(path: string): boolean
  /** Finds a program in PATH. */
  findProgram(name: string): string | undefined
}

export interface DiskEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

/** A file system about which nothing is known. */
export const NO_DISK_VIEW: DiskView = {
  realPath: (path) => path,
  kind: () => undefined,
  read: () => undefined,
  list: () => undefined,
  exists: () => false,
  findProgram: () => undefined,
}
