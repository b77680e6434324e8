/** What a call would do to the world. One declaration feeds the policy, the scheduler, undo and the audit. */
export type Effect =
  | { readonly kind: 'read'; readonly path: string }
  /** `isToolOwned`: a file that belongs to Dragoman, which only this tool writes, and only in its own format. */
  | { readonly kind: 'write'; readonly path: string; readonly isToolOwned?: true }
  | { readonly kind: 'exec'; readonly command: string; readonly folder: string }
  /** `urls` are the addresses on that host, where they are known beforehand. */
  | { readonly kind: 'net'; readonly host: string; readonly urls?: readonly string[] }
  /** A plan is put to the person; their yes ends plan mode. */
  | { readonly kind: 'plan' }
  /** Undeclared: it may do anything. `mcpTool` is set for the tool of an MCP server. */
  | { readonly kind: 'unknown'; readonly mcpTool?: McpToolIdentity }

/** A tool of a server. Rules know it as `server__tool`, whatever it is called to the model. */
export interface McpToolIdentity {
  readonly server: string
  readonly tool: string
  /** The person trusts the server. */
  readonly trusted?: boolean
  /** It is not what it was when the person allowed it. */
  readonly changed?: boolean
}

/** What a path really is: the path that all links lead to, and what identifies the file there, if there is one. */
export interface FileIdentity {
  readonly path: string
  readonly id?: string
}

/**
 * Must these two not run at the same time? Reads and requests conflict with nothing but writes; a command conflicts with every
 * access to files. `identify` resolves a path, because one file has many spellings; an unresolved path may be any file.
 */
export function effectsConflict(
  one: Effect,
  other: Effect,
  identify: (path: string) => FileIdentity | undefined = (path) => ({ path }),
): boolean {
  if (one.kind === 'unknown' || other.kind === 'unknown') return true
  // What comes after a plan waits for its approval.
  if (one.kind === 'plan' || other.kind === 'plan') return true
  if (one.kind === 'exec' || other.kind === 'exec') return one.kind !== 'net' && other.kind !== 'net'
  if (one.kind === 'net' || other.kind === 'net') return false
  if (one.kind === 'read' && other.kind === 'read') return false
  const [firstFile, secondFile] = [identify(one.path), identify(other.path)]
  if (!firstFile || !secondFile || (firstFile.id !== undefined && firstFile.id === secondFile.id)) return true
  return isSameOrInside(firstFile.path, secondFile.path) || isSameOrInside(secondFile.path, firstFile.path)
}

function isSameOrInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
}
