/** What the policy must know of the disk to judge a path or a command. The host hands it in. */
export interface Disk {
  /** The path that a path really means, all links followed; nothing if that cannot be said, as in a loop of links. */
  real(path: string): string | undefined
  /** What is there, links followed. */
  kind(path: string): 'file' | 'folder' | 'other' | undefined
  /** The bytes of a file of a reasonable size. */
  read(path: string): Uint8Array | undefined
  /** Where a program lies that is started by its bare name. */
  program(name: string): string | undefined
}

/** Text as text: for questions that the disk cannot be asked about. Nothing is known of it. */
export const NO_DISK: Disk = {
  real: (path) => path,
  kind: () => undefined,
  read: () => undefined,
  program: () => undefined,
}
