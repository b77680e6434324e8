import { isInsideFolder } from '../../model/inside-folder.ts'
import { classifyPath, isAccessible, type PathContext } from '../path/classify-path.ts'
import { NO_DISK_VIEW } from '../disk-view.ts'
import { expandGlob } from './glob-expansion.ts'
import type { ShellCommand } from './shell-command.ts'
import { UNKNOWN_VALUE } from './shell-word.ts'
import { findWrittenFiles } from './written-files.ts'

/** What a command changes, as far as known, in folders that a sandbox replaces by private ones: there it would be lost. */
export interface HiddenChanges {
  /** Paths in the home folder, and what exists in a temporary folder. */
  readonly paths: readonly string[]
  /** It creates files in a temporary folder, where only commands of the session would see them. */
  readonly createsTemporary: boolean
}

export function findHiddenChanges(commands: readonly ShellCommand[], pathContext: PathContext): HiddenChanges {
  const { home, disk = NO_DISK_VIEW } = pathContext
  const homeFolder = home === undefined ? undefined : (disk.realPath(home) ?? home)
  const written = commands.flatMap(({ writes, words, folder }) =>
    [...writes, ...findWrittenFiles(words)].flatMap(({ guess, glob }) => {
      if (guess === '' || /^\d+$/.test(guess) || guess.includes(UNKNOWN_VALUE)) return []
      const paths = (glob ? expandGlob(guess, folder ?? '/', disk) : undefined) ?? [guess]
      return paths.flatMap((one) => {
        const { kind, path } = classifyPath(one, 'write', pathContext, folder)
        return kind === 'reject' || isAccessible(path, 'write', pathContext) ? [] : [path]
      })
    }),
  )
  const temporary = written.filter((path) => TEMPORARY_FOLDERS.some((folder) => isBelow(path, folder)))
  const existing = temporary.filter((path) => disk.exists(path))
  const inHome = written.filter((path) => homeFolder !== undefined && homeFolder !== '/' && isBelow(path, homeFolder))
  return { paths: [...new Set([...inHome, ...existing])], createsTemporary: temporary.length > existing.length }
}

const TEMPORARY_FOLDERS = ['/tmp', '/var/tmp']

function isBelow(path: string, folder: string): boolean {
  return path !== folder && isInsideFolder(path, folder)
}
