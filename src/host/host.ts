import type { ApprovedFile } from '../model/security/approved-file.ts'
import type { SandboxAccess } from '../model/security/sandbox-access.ts'

/** Files, processes and the web for tools. A host may be a container or a remote machine. */
export interface Host {
  readonly files: Files
  readonly processes: Processes
  readonly search?: (search: SearchRequest) => Promise<SearchResult | undefined>
  readonly web?: WebClient
  /** Also reaches paths outside the workspace that were approved, for one call. */
  withAccess?(access: readonly ApprovedFile[]): Pick<Host, 'files' | 'search'>
}

export interface FileInfo {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  /** Milliseconds since 1970. */
  readonly modifiedAt: number
  readonly mode: number
  /** The same for two names of one file. Absent if the host cannot tell. */
  readonly id?: string
  readonly linkCount?: number
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileInfo['kind']
}

export interface VisitedFolder {
  readonly path: string
  readonly parent?: VisitedFolder | undefined
  readonly entries: readonly FolderEntry[]
  /** The modification time in milliseconds since 1970, links not followed; 0 if unknown. */
  modifiedAt(name: string): number
}

/** Files by absolute path. What is checked is what is opened: no part of a path is followed out of the allowed folders. */
export interface Files {
  /** Follows links; undefined if the file does not exist. */
  info(path: string): Promise<FileInfo | undefined>
  /** The whole file, or a range of it. A file of more than `maxBytes` is not read: the error is `too-large`. */
  read(path: string, range?: { readonly from: number; readonly bytes: number }, maxBytes?: number): Promise<Uint8Array>
  /** Atomic; keeps the mode of the file unless one is given, and creates missing folders. */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<void>
  /**
   * Writes what `transform` makes of the content; nothing if it returns undefined. Our own writers wait. If somebody else
   * writes the file meanwhile, `transform` is called again, and in the end it fails.
   */
  update(path: string, transform: FileTransform, options?: WriteOptions): Promise<void>
  remove(path: string): Promise<void>
  list(path: string): Promise<readonly FolderEntry[]>
  /** Visits a folder, then those of its folders that `visit` returns, and so on; links are not followed. */
  walk(
    path: string,
    visit: (folder: VisitedFolder) => FolderNames | Promise<FolderNames>,
    signal?: AbortSignal,
  ): Promise<void>
  /** The path with all links resolved; for a file that does not exist, as far as the path exists. */
  resolve(path: string): Promise<string>
}

type FolderNames = readonly string[]

export interface WriteOptions {
  readonly mode?: number
}

/** Undefined stands for no file, or nothing to write. */
export type FileTransform = (current: Uint8Array | undefined) => Promise<Uint8Array | undefined>

export interface CommandRequest {
  readonly command: string
  readonly folder: string
  /** Variables beside those that every command gets. */
  readonly env?: Readonly<Record<string, string>>
  /** Git must not start programs that a repository's settings name, because nobody was asked about them. */
  readonly gitHelpers?: 'off'
  /** It is proved to change nothing. */
  readonly isHarmless?: true
  /** Milliseconds; unlimited without it. */
  readonly timeout?: number
  /** Milliseconds without output until the command is stopped. */
  readonly idleTimeout?: number
  /** What it may do beyond the sandbox. */
  readonly access?: SandboxAccess
  readonly signal?: AbortSignal
  readonly onOutput?: (text: string) => void
  /** Its input stays open. */
  readonly hasInput?: true
}

/** A command that runs in the background. */
export interface BackgroundCommand {
  readonly id: string
  readonly command: string
  readonly folder: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** How it ended; undefined while it runs. */
  readonly end: Pick<CommandResult, 'exitCode' | 'signal' | 'error'> | undefined
  /** The output since the last call. */
  readNew(): string
  /** The end of its output, whether or not it was read. */
  readRecent(): string
  /** Rejects if its input is closed. */
  send(text: string): Promise<void>
  /** Stops it, with all that it started. */
  stop(): Promise<void>
  /** Does it go on when the host is closed? */
  readonly isKept: boolean
  /** Lets it go on when the host is closed; returns why that is not possible. */
  keep(): string | undefined
  waitForEnd(): Promise<void>
}

/** How a command ended. Long output keeps its beginning and its end; the rest is in a file. */
export interface CommandResult {
  readonly output: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly error?: string
  /** PIDs of processes that the command left running, as seen outside the sandbox. */
  readonly background: readonly number[]
  readonly group: number | undefined
  /** The id under which what it left running can be read and stopped. */
  readonly backgroundId?: string
  /** It ran in a sandbox of its own: other commands see neither its processes nor its ports. */
  readonly sandboxed?: true
  readonly notes?: readonly string[]
  /** How many bytes are missing in the middle of `output`. */
  readonly omittedBytes?: number
  /** The file with the whole output, if `output` is cut, or if there may be more. */
  readonly outputFile?: string
  readonly timedOut?: true
  readonly cancelled?: true
  /** What it changed in the workspace is in the log, and can be undone. */
  readonly changesRecorded?: true
  /** Messages for the user only. */
  readonly notices?: readonly string[]
}

/** Each process has its own group and a clean environment. */
export interface Processes {
  run(command: CommandRequest): Promise<CommandResult>
  /** Starts a command that runs on until it ends, is stopped, or the host is closed; a result if it did not start. */
  start?(command: CommandRequest): Promise<BackgroundCommand | CommandResult>
  /** All commands that were started in the background, and what others left running. */
  listBackground?(): readonly BackgroundCommand[]
  /** Finds the commands again that were kept when an earlier host with the same scratch folder was closed. */
  restoreBackground?(): readonly BackgroundCommand[]
  /** There is nothing else to do until the next command, which can be prepared. */
  onIdle?(): void
  /** A command in this folder is about to be run, unless it is not allowed. */
  prepare?(folder: string): Promise<void>
}

export interface SearchRequest {
  /** A regular expression; not case-sensitive. */
  readonly pattern: string
  /** A file, or a folder with all below it. */
  readonly path: string
  /** A glob that file names must match. */
  readonly include?: string
  readonly excludedFolders: readonly string[]
  readonly limit: number
  readonly signal?: AbortSignal
}

export interface SearchMatch {
  readonly path: string
  readonly line: number
  readonly text: string
}

export type SearchResult =
  | { readonly hits: readonly SearchMatch[]; readonly limited: boolean }
  | { readonly problem: string }

/** The web behind a policy: only URLs and addresses that were checked are reached. */
export interface WebClient {
  /** Never throws. */
  fetch(request: WebRequest): Promise<WebPage | WebFailure>
}

/** With a body it is a POST request. */
export interface WebRequest {
  readonly url: string
  /** Only sent to the first host. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The user configured this URL, so it may be anywhere; but it must not redirect. */
  readonly trusted?: true
  readonly signal?: AbortSignal
}

export interface WebPage {
  /** After redirects. */
  readonly url: string
  readonly status: number
  readonly type: string
  readonly size: number
  /** Only for text. */
  readonly text?: string
  /** The page was longer. */
  readonly cut?: true
}

/** Why a page was not fetched, and the rule that forbade it, if one did. */
export interface WebFailure {
  readonly problem: string
  readonly rule?: string
}

export interface UrlDecision {
  readonly verdict: 'allow' | 'ask' | 'deny'
  readonly rule: string
  readonly why: string
}

export interface UrlPolicy {
  url(text: string): UrlDecision
  addresses(host: string, addresses: readonly string[]): UrlDecision
  redirect(from: string, to: string): UrlDecision
}
