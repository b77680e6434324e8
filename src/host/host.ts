/** Files and processes, as tools reach them. Another host may be a container or a machine far away. */
export interface Host {
  readonly files: Files
  readonly processes: Processes
  /** Searches file contents with a program made for it, where there is one. */
  readonly search?: (search: Search) => Promise<SearchEnd | undefined>
}

/** What is known of a file. */
export interface FileInfo {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  /** Milliseconds since 1970. */
  readonly changed: number
  readonly mode: number
}

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string
  readonly kind: FileInfo['kind']
}

/** A folder, as a walk comes by. */
export interface FolderView {
  readonly path: string
  readonly entries: readonly FolderEntry[]
  /** What is known of an entry, links not followed. */
  info(name: string): FileInfo | undefined
}

/** Files by absolute path. What is judged is what is opened: no step of a path is followed out of the allowed folders. */
export interface Files {
  /** What is known of a file, links followed; nothing if it is not there. */
  info(path: string): Promise<FileInfo | undefined>
  read(path: string, range?: { readonly from: number; readonly bytes: number }): Promise<Uint8Array>
  /** Writes a file whole or not at all, keeping its mode; makes the folders that are missing. */
  write(path: string, bytes: Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  list(path: string): Promise<readonly FolderEntry[]>
  /** Shows a folder, then those of its folders that `visit` names, and so on; links are not followed. */
  walk(path: string, visit: (folder: FolderView) => Names | Promise<Names>, signal?: AbortSignal): Promise<void>
  /** The path that a path really means, all links followed; of a file that is not there yet, as far as there is one. */
  resolve(path: string): Promise<string>
}

type Names = readonly string[]

/** A command to run. */
export interface Command {
  readonly command: string
  readonly folder: string
  /** Variables beside those that every command gets. */
  readonly env?: Readonly<Record<string, string>>
  /** Milliseconds; without it a command runs until it ends or is cancelled. */
  readonly timeout?: number
  /** Milliseconds without any output after which a command is stopped. */
  readonly idle?: number
  readonly signal?: AbortSignal
  /** Called with what the command prints, as it comes. */
  readonly onOutput?: (text: string) => void
}

/** How a command ended. Output of any size is bounded: the beginning, the end, and a file with the rest. */
export interface CommandEnd {
  readonly output: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly error?: string
  /** Processes that the command left running. */
  readonly background: readonly number[]
  readonly group: number | undefined
  /** Where all of the output is, if `output` is only part of it, or if there may be more. */
  readonly file?: string
  readonly timedOut?: true
  readonly cancelled?: true
}

/** Processes, each in a group of its own, with a clean environment. */
export interface Processes {
  run(command: Command): Promise<CommandEnd>
}

/** Which lines to look for. */
export interface Search {
  /** A regular expression; case does not count. */
  readonly pattern: string
  /** A file, or a folder with all below it. */
  readonly path: string
  /** A glob that file names must match. */
  readonly include?: string
  /** Names of folders to leave out, wherever they are. */
  readonly without: readonly string[]
  /** At most so many lines. */
  readonly limit: number
  readonly signal?: AbortSignal
}

/** A line that was found. */
export interface Hit {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** What a search found, or what is wrong with its pattern. */
export type SearchEnd = { readonly hits: readonly Hit[]; readonly limited: boolean } | { readonly problem: string }
