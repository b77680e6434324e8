import type { SandboxAccess } from '../model/security/sandbox-access.ts'

/** Files, processes and the web, as tools reach them. Another host may be a container or a machine far away. */
export interface Host {
  readonly files: Files
  readonly processes: Processes
  /** Searches file contents with a program made for it, where there is one. */
  readonly search?: (search: SearchRequest) => Promise<SearchResult | undefined>
  /** Pages of the net, where this host may reach it. */
  readonly web?: WebClient
  /** Files and searches that also reach what was approved outside the workspace, for the length of one call. */
  withAccess?(access: readonly FileAccess[]): Pick<Host, 'files' | 'search'>
}

/**
 * A path as it is given, and what it really was when it was judged: nothing else is opened in its place. One that is outside
 * the allowed folders may be opened by this; of one inside, the folder says what may be done.
 */
export interface FileAccess {
  readonly requestedPath: string
  readonly realPath: string
  readonly need: 'read' | 'write'
  readonly isOutside: boolean
}

/** What is known of a file. */
export interface FileInfo {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  readonly mode: number
  /** Two names of one file have the same. Absent where the host cannot tell. */
  readonly id?: string
  /** How many names it has (hard links). */
  readonly linkCount?: number
}

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string
  readonly kind: FileInfo['kind']
}

/** A folder, as a walk comes by. */
export interface VisitedFolder {
  readonly path: string
  /** The folder that the walk came from, as it was shown. */
  readonly parent?: VisitedFolder | undefined
  readonly entries: readonly FolderEntry[]
  /** When an entry was last changed, in milliseconds since 1970, links not followed; 0 if that cannot be told. */
  modifiedAt(name: string): number
}

/** Files by absolute path. What is judged is what is opened: no step of a path is followed out of the allowed folders. */
export interface Files {
  /** What is known of a file, links followed; nothing if it is not there. */
  info(path: string): Promise<FileInfo | undefined>
  read(path: string, range?: { readonly from: number; readonly bytes: number }): Promise<Uint8Array>
  /** Writes a file whole or not at all, keeping its mode unless one is given; makes the folders that are missing. */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<void>
  /**
   * Writes what `make` makes of what the file holds; nothing if it makes nothing. Nobody of ours writes the file meanwhile. If
   * somebody else did, just before it gets its name, `make` is called again with what is there now, and in the end it fails.
   */
  update(path: string, transform: FileTransform, options?: WriteOptions): Promise<void>
  remove(path: string): Promise<void>
  list(path: string): Promise<readonly FolderEntry[]>
  /** Shows a folder, then those of its folders that `visit` names, and so on; links are not followed. */
  walk(
    path: string,
    visit: (folder: VisitedFolder) => FolderNames | Promise<FolderNames>,
    signal?: AbortSignal,
  ): Promise<void>
  /** The path that a path really means, all links followed; of a file that is not there yet, as far as there is one. */
  resolve(path: string): Promise<string>
}

type FolderNames = readonly string[]

/** How a file is written. */
export interface WriteOptions {
  readonly mode?: number
}

/** What a file is to hold, from what it holds; both are absent where there is no file, or nothing to write. */
export type FileTransform = (current: Uint8Array | undefined) => Promise<Uint8Array | undefined>

/** A command to run. */
export interface CommandRequest {
  readonly command: string
  readonly folder: string
  /** Variables beside those that every command gets. */
  readonly env?: Readonly<Record<string, string>>
  /** Git must not start the programs that the settings of a repository name: nobody was asked about those. */
  readonly gitHelpers?: 'off'
  /** Milliseconds; without it a command runs until it ends or is cancelled. */
  readonly timeout?: number
  /** Milliseconds without any output after which a command is stopped. */
  readonly idleTimeout?: number
  /** What it may do beyond the sandbox; without it, what is configured for all commands. */
  readonly access?: SandboxAccess
  readonly signal?: AbortSignal
  /** Called with what the command prints, as it comes. */
  readonly onOutput?: (text: string) => void
}

/** How a command ended. Output of any size is bounded: the beginning, the end, and a file with the rest. */
export interface CommandResult {
  readonly output: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly error?: string
  /** Processes that the command left running, by their numbers outside of any box. */
  readonly background: readonly number[]
  readonly group: number | undefined
  /** It ran in a box of its own: other commands see neither its processes nor its ports. */
  readonly boxed?: true
  /** What there is to say about it beside its output. */
  readonly notes?: readonly string[]
  /** How many bytes are missing in the middle of `output`. */
  readonly omittedBytes?: number
  /** Where all of the output is, if `output` is only part of it, or if there may be more. */
  readonly outputFile?: string
  readonly timedOut?: true
  readonly cancelled?: true
}

/** Processes, each in a group of its own, with a clean environment. */
export interface Processes {
  run(command: CommandRequest): Promise<CommandResult>
}

/** Which lines to look for. */
export interface SearchRequest {
  /** A regular expression; case does not count. */
  readonly pattern: string
  /** A file, or a folder with all below it. */
  readonly path: string
  /** A glob that file names must match. */
  readonly include?: string
  /** Names of folders to leave out, wherever they are. */
  readonly excludedFolders: readonly string[]
  /** At most so many lines. */
  readonly limit: number
  readonly signal?: AbortSignal
}

/** A line that was found. */
export interface SearchMatch {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** What a search found, or what is wrong with its pattern. */
export type SearchResult =
  | { readonly hits: readonly SearchMatch[]; readonly limited: boolean }
  | { readonly problem: string }

/** The web, behind a judge: nothing is asked that was not judged, and nothing is reached but what was judged. */
export interface WebClient {
  /** Fetches a page; never throws. */
  fetch(request: WebRequest): Promise<WebPage | WebFailure>
}

/** A page to fetch. With a body it is a POST. */
export interface WebRequest {
  readonly url: string
  /** They go to the first host only. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The person set this address up, so it may be anywhere; but it must answer itself. */
  readonly trusted?: true
  readonly signal?: AbortSignal
}

/** A page that was fetched. */
export interface WebPage {
  /** Where it was in the end. */
  readonly url: string
  readonly status: number
  readonly type: string
  readonly size: number
  /** Of pages that are text. */
  readonly text?: string
  /** There was more, which was not read. */
  readonly cut?: true
}

/** Why a page was not fetched, in a sentence; and the rule that forbade it, if one did. */
export interface WebFailure {
  readonly problem: string
  readonly rule?: string
}

/** A judgement on an address. */
export interface UrlDecision {
  readonly verdict: 'allow' | 'ask' | 'deny'
  readonly rule: string
  readonly why: string
}

/** Judges addresses for a web: their text, what their names lead to, and where answers send on to. */
export interface UrlPolicy {
  url(text: string): UrlDecision
  addresses(host: string, addresses: readonly string[]): UrlDecision
  redirect(from: string, to: string): UrlDecision
}
