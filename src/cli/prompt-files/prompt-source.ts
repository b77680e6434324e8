import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { listTrustedFiles, readTrustedText } from '../config/folder-trust.ts'
import type { ProjectFileKind } from '../config/project-files.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'

/** A file with a prompt: a custom command, or a skill. */
export interface PromptFile {
  /** The absolute path. */
  readonly path: string
  /** The path inside the folder of such files, such as `git/commit.md`. */
  readonly name: string
  /** Reads it at the time of use. A file of a project counts only if it is still as it was trusted. */
  read(): { readonly text: string } | { readonly problem: string }
}

const MAX_PROMPT_BYTES = 100_000

/** The files in these folders of a trusted project, in the order of the folders. */
export function listProjectPromptFiles(
  folder: string,
  kind: ProjectFileKind,
  roots: readonly string[],
  isPromptFile: (name: string) => boolean,
): PromptFile[] {
  const trusted = listTrustedFiles(folder, kind)
  return roots.flatMap((root) =>
    trusted
      .filter((path) => path.startsWith(`${root}/`) && isPromptFile(path.slice(root.length + 1)))
      .sort()
      .map((path): PromptFile => ({
        path: join(folder, path),
        name: path.slice(root.length + 1),
        read() {
          const read = readTrustedText(folder, path, MAX_PROMPT_BYTES)
          if ('text' in read) return toPromptText(read)
          return read.problem === 'untrusted'
            ? { problem: 'it has changed since this folder was trusted; run dragoman trust' }
            : { problem: describeFileProblem(read) }
        },
      })),
  )
}

/** The files in a folder of the user's own, which may contain links to anywhere. */
export function listUserPromptFiles(root: string, isPromptFile: (name: string) => boolean): PromptFile[] {
  return listNames(root, '', 0)
    .filter(isPromptFile)
    .map((name): PromptFile => {
      const path = join(root, name)
      return {
        path,
        name,
        read() {
          const read = readProjectText(path, { maxBytes: MAX_PROMPT_BYTES })
          return 'text' in read ? toPromptText(read) : { problem: describeFileProblem(read) }
        },
      }
    })
}

function toPromptText({ text, isCut }: { readonly text: string; readonly isCut: boolean }) {
  return isCut ? { problem: 'the file is too long' } : { text }
}

const MAX_DEPTH = 4
const MAX_NAMES = 2000

function listNames(root: string, prefix: string, depth: number): string[] {
  const entries = tryOrUndefined(() => readdirSync(join(root, prefix), { withFileTypes: true })) ?? []
  const names = entries
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`
      const isFolder =
        entry.isDirectory() ||
        (entry.isSymbolicLink() && tryOrUndefined(() => statSync(join(root, name)).isDirectory()) === true)
      if (!isFolder) return [name]
      return depth < MAX_DEPTH && entry.name !== 'node_modules' && entry.name !== '.git'
        ? listNames(root, name, depth + 1)
        : []
    })
  return names.slice(0, MAX_NAMES)
}
