/**
 * A path as given, and its real path when it was checked; nothing else is opened in its place. If it is outside the allowed
 * folders, this allows it; inside, the folder decides.
 */
export interface ApprovedFile {
  readonly requestedPath: string
  readonly realPath: string
  readonly need: 'read' | 'write'
  readonly isOutside: boolean
}
