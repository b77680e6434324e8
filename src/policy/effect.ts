import { isInsideFolder } from '../model/inside-folder.ts'

/** What a call would do. The policy, the scheduler, undo and the audit use it. */
export type Effect =
  | { readonly kind: 'read'; readonly path: string }
  /** `isToolOwned`: a file of Dragoman itself, which only this tool writes, and only in its own format. */
  | { readonly kind: 'write'; readonly path: string; readonly isToolOwned?: true }
  | { readonly kind: 'exec'; readonly command: string; readonly folder: string }
  /** `urls` are the URLs on that host, if they are known. */
  | { readonly kind: 'net'; readonly host: string; readonly urls?: readonly string[] }
  /** The user is asked to approve a plan, which ends plan mode. */
  | { readonly kind: 'plan' }
  /** The user is asked something; nothing else happens. */
  | { readonly kind: 'question' }
  /** Undeclared: it may do anything. `mcpTool` is set for the tool of an MCP server. */
  | { readonly kind: 'unknown'; readonly mcpTool?: McpToolIdentity }

/** A tool of an MCP server. Rules call it `server__tool`, whatever name the model sees. */
export interface McpToolIdentity {
  readonly server: string
  readonly tool: string
  readonly trusted?: boolean
  /** It has changed since the user allowed it. */
  readonly changed?: boolean
}

/** The real path, and an id of the file if it exists. */
export interface FileIdentity {
  readonly path: string
  readonly id?: string
}

/**
 * Must these two not run at the same time? Reads and requests conflict only with writes; a command conflicts with all
 * file access. `identify` resolves a path; an unresolved path may be any file.
 */
export function effectsConflict(
  one: Effect,
  other: Effect,
  identify: (path: string) => FileIdentity | undefined = (path) => ({ path }),
): boolean {
  if (one.kind === 'unknown' || other.kind === 'unknown') return true
  // Calls after a plan wait for its approval.
  if (one.kind === 'plan' || other.kind === 'plan') return true
  // Other calls need not wait for an answer; questions come one after the other.
  if (one.kind === 'question' || other.kind === 'question') return one.kind === other.kind
  if (one.kind === 'exec' || other.kind === 'exec') return one.kind !== 'net' && other.kind !== 'net'
  if (one.kind === 'net' || other.kind === 'net') return false
  if (one.kind === 'read' && other.kind === 'read') return false
  const [firstFile, secondFile] = [identify(one.path), identify(other.path)]
  if (!firstFile || !secondFile || (firstFile.id !== undefined && firstFile.id === secondFile.id)) return true
  return isInsideFolder(firstFile.path, secondFile.path) || isInsideFolder(secondFile.path, firstFile.path)
}
