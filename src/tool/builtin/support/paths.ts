import { isAbsolute, join, resolve } from 'node:path'
import type { Host } from '../../../host/host.ts'
import type { Effect } from '../../../policy/effect.ts'
import { quoteName, unquoteName } from '../../text/escape.ts'

/**
 * The path that a model means: absolute, or from the folder in which the agent works. A `..` stays where it is, because
 * after a link only the disk knows where it leads.
 */
export function absolute(path: string, folders: readonly string[]): string {
  const name = unquoteName(path)
  const plain = name.length > 1 ? name.replace(/\/+$/, '') : name
  return isAbsolute(plain) ? plain || '/' : `${folders[0] ?? ''}/${plain}`
}

/** What a path is called before a person or a model: from the folder in which the agent works, if it is in there. */
export function shown(path: string, folders: readonly string[]): string {
  const [first = ''] = folders
  if (path === first) return '.'
  return quoteName(path.startsWith(`${first}/`) ? path.slice(first.length + 1) : path)
}

/** The effects of reading or writing at a path. One with `..` counts as both places that it could mean. */
export function touching(kind: 'read' | 'write', path: string): Effect[] {
  const plain = resolve(path)
  return plain === path
    ? [{ kind, path }]
    : [
        { kind, path },
        { kind, path: plain },
      ]
}

/** A folder of the workspace, by the name it was given and by what that really is. */
export interface Workspace {
  readonly given: string
  readonly real: string
}

/** The workspace folder that a real path is in, or the path itself if it is in none. */
export async function workspaceOf(host: Host, folders: readonly string[], real: string): Promise<Workspace> {
  let best: Workspace | undefined
  for (const given of folders) {
    const one = { given: resolve(given), real: await host.files.resolve(given) }
    const holds = real === one.real || real.startsWith(join(one.real, '/'))
    if (holds && (!best || one.real.length > best.real.length)) best = one
  }
  return best ?? { given: real, real }
}

/** A real path as the person knows it, by the name that the workspace was given. */
export function byGivenName({ given, real }: Workspace, path: string): string {
  if (given === real) return path
  return path === real || path.startsWith(join(real, '/')) ? given + path.slice(real.length) : path
}
