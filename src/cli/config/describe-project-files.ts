import type { FolderTrust, ReviewedFile } from './folder-trust.ts'
import { PROJECT_FILE_KINDS, type ProjectFileKind } from './project-files.ts'

/** The files by kind, a line each; what has changed since they were trusted comes first, and is marked. */
export function describeProjectFiles(files: FolderTrust['files'], maxLinesPerKind = 12): string[] {
  const hasDecision = files.some(({ status }) => status !== 'new')
  return Object.entries(PROJECT_FILE_KINDS).flatMap(([kind, { title }]) => {
    const ofKind = files
      .filter((file) => file.kind === (kind as ProjectFileKind))
      .toSorted((one, other) => Number(one.status === 'unchanged') - Number(other.status === 'unchanged'))
    if (ofKind.length === 0) return []
    const more = ofKind.length - maxLinesPerKind
    return [
      `${title}:`,
      ...ofKind.slice(0, maxLinesPerKind).map((file) => `  ${file.path}${hasDecision ? MARKS[file.status] : ''}`),
      ...(more > 0 ? [`  … and ${more} more; dragoman trust shows all`] : []),
    ]
  })
}

const MARKS: Readonly<Record<ReviewedFile['status'], string>> = {
  unchanged: '',
  new: ' (new)',
  changed: ' (changed)',
  removed: ' (removed)',
}
