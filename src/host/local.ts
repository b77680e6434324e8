import { type Companions, localCompanions } from './companion.ts'
import { localFiles } from './files.ts'
import type { Files, Host } from './host.ts'
import { localProcesses } from './processes.ts'
import { ripgrep } from './ripgrep.ts'
import { type Allowed, type Roots, rootsOf } from './roots.ts'
import { localSandbox, type SandboxOptions, type SandboxState } from './sandbox/sandbox.ts'
import { removeAbandonedWrites } from './write-lock.ts'

/** What a host of this machine may do. */
export interface LocalOptions extends Allowed {
  /** A folder of ours, outside of the others, for what commands print. Tools may read it. */
  readonly scratch: string
  /** A folder of ours that all processes share which may write the same files; they take turns there. */
  readonly locks?: string
  /** Names of variables that commands may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  /** Whether and how commands are shut in. Without it they are not. */
  readonly sandbox?: SandboxOptions
  /** How many processes a command may have at a time before it is stopped; 1,000 without it. */
  readonly processLimit?: number
  /** How much memory a command may have before it is stopped, in bytes; three quarters of the machine's without it. */
  readonly memoryLimit?: number
  /** How large a file a command in the sandbox may write, in bytes; 16 GiB without it. */
  readonly fileLimit?: number
  /** Called once, when a command runs without the sandbox that it could have had. */
  readonly onUnboxed?: (why: string) => void
}

/** A host that may be closed: commands that are still running are ended. */
export interface LocalHost extends Host {
  /** Whether commands are shut in; found out when it is first asked. */
  sandbox(): Promise<SandboxState>
  /** Programs that run beside us. */
  readonly companions: Companions
  close(): void
}

/** The files and processes of this machine, within the allowed folders. */
export function localHost(options: LocalOptions): LocalHost {
  const { scratch, locks } = options
  if (locks !== undefined) removeAbandonedWrites(locks)
  const allowed: Allowed = {
    get folders() {
      return options.folders
    },
    get readFolders() {
      return [...(options.readFolders ?? []), scratch]
    },
    ...(options.ownFiles && { ownFiles: options.ownFiles }),
  }
  const roots = rootsOf(allowed)
  const sandbox = localSandbox(options.sandbox ?? { mode: 'off' }, options, roots)
  const companions = localCompanions({ ...options, sandbox })
  const processes = localProcesses(roots, { ...options, sandbox, news: () => companions.news() })
  const filesIn = (within: Roots): Files => {
    const files = localFiles(within, locks)
    return {
      ...files,
      async write(path, bytes, how) {
        sandbox.approve(path)
        await files.write(path, bytes, how)
      },
      async update(path, make, how) {
        sandbox.approve(path)
        await files.update(path, make, how)
      },
      async remove(path) {
        sandbox.approve(path)
        await files.remove(path)
      },
    }
  }
  return {
    files: filesIn(roots),
    processes,
    search: ripgrep(roots),
    granting(access) {
      const wider = rootsOf({ ...allowed, access })
      return { files: filesIn(wider), search: ripgrep(wider) }
    },
    sandbox: () => sandbox.state(),
    companions,
    close() {
      processes.close()
      companions.close()
      sandbox.close()
    },
  }
}
