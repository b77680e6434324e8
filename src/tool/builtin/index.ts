import type { Tool } from '../define.ts'
import { glob } from './glob.ts'
import { listDirectory } from './list-directory.ts'
import { readFile } from './read-file.ts'
import { readManyFiles } from './read-many-files.ts'
import { replace } from './replace.ts'
import { runShellCommand, type ShellOptions } from './run-shell-command.ts'
import { saveMemory } from './save-memory.ts'
import { searchFileContent } from './search-file-content.ts'
import { smartEdit } from './smart-edit.ts'
import { writeFile } from './write-file.ts'

/** What the built-in tools need to know. */
export interface BuiltinOptions {
  /** The file that save_memory writes; the host must allow it. Without it there is no such tool. */
  readonly memory?: string
  readonly shell?: ShellOptions
}

/** The built-in tools, always in the same order. */
export function builtinTools({ memory, shell }: BuiltinOptions = {}): readonly Tool[] {
  return [
    listDirectory,
    readFile,
    searchFileContent,
    glob,
    smartEdit,
    replace,
    writeFile,
    readManyFiles,
    runShellCommand(shell),
    ...(memory === undefined ? [] : [saveMemory(memory)]),
  ]
}
