import { localFiles } from './files.ts'
import type { Host } from './host.ts'
import { localProcesses } from './processes.ts'
import { ripgrep } from './ripgrep.ts'
import { type Allowed, rootsOf } from './roots.ts'

/** What a host of this machine may do. */
export interface LocalOptions extends Allowed {
  /** A folder of ours, outside of the others, for what commands print. Tools may read it. */
  readonly scratch: string
  /** Names of variables that commands may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
}

/** A host that may be closed: commands that are still running are ended. */
export interface LocalHost extends Host {
  close(): void
}

/** The files and processes of this machine, within the allowed folders. */
export function localHost(options: LocalOptions): LocalHost {
  const { scratch } = options
  const roots = rootsOf({
    get folders() {
      return options.folders
    },
    get readFolders() {
      return [...(options.readFolders ?? []), scratch]
    },
    ...(options.ownFiles && { ownFiles: options.ownFiles }),
  })
  const processes = localProcesses(roots, options)
  return { files: localFiles(roots), processes, search: ripgrep(roots), close: () => processes.close() }
}
