import { isAbsolute, resolve } from 'node:path'
import type { Host } from '../../../host/host.ts'
import { isInsideFolder } from '../../../model/inside-folder.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { Effect } from '../../../policy/effect.ts'
import { quoteFileName, unquoteFileName } from '../../text/escape-file-names.ts'
import { getOptionalTextArgument } from './read-arguments.ts'

/** Absolute, or relative to the working folder. `..` is not resolved: only the disk knows where links lead. */
export function toAbsolutePath(path: string, folders: readonly string[]): string {
  const name = unquoteFileName(path)
  const plain = name.length > 1 ? name.replace(/\/+$/, '') : name
  return isAbsolute(plain) ? plain || '/' : `${folders[0] ?? ''}/${plain}`
}

/** Where a search begins: at the `path` among the arguments, or in all folders of the workspace. */
export function resolveSearchRoots(input: JsonObject, folders: readonly string[]): string[] {
  const path = getOptionalTextArgument(input, 'path')
  return path === undefined ? [...folders] : [toAbsolutePath(path, folders)]
}

/** The path relative to the working folder, if it is inside. */
export function toDisplayPath(path: string, folders: readonly string[]): string {
  const [first = ''] = folders
  if (path === first) return '.'
  return quoteFileName(path.startsWith(`${first}/`) ? path.slice(first.length + 1) : path)
}

/** The effects of reading or writing a path. A path with `..` counts as both paths that it may mean. */
export function createPathEffects(kind: 'read' | 'write', path: string): Effect[] {
  return [...new Set([path, resolve(path)])].map((one) => ({ kind, path: one }))
}

export interface WorkspaceFolder {
  readonly givenPath: string
  readonly realPath: string
}

/** The workspace folder that contains a real path, or the path itself if none does. */
export async function findWorkspaceFolder(
  host: Host,
  folders: readonly string[],
  real: string,
): Promise<WorkspaceFolder> {
  let best: WorkspaceFolder | undefined
  for (const given of folders) {
    const one = { givenPath: resolve(given), realPath: await host.files.resolve(given) }
    if (isInsideFolder(real, one.realPath) && (!best || one.realPath.length > best.realPath.length)) best = one
  }
  return best ?? { givenPath: real, realPath: real }
}

/** A real path as the user knows it: below the workspace folder as it was given. */
export function toGivenPath({ givenPath, realPath }: WorkspaceFolder, path: string): string {
  if (givenPath === realPath) return path
  return isInsideFolder(path, realPath) ? givenPath + path.slice(realPath.length) : path
}
