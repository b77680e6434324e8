import { type Companions, localCompanions } from './companion.ts'
import { localFiles } from './files.ts'
import type { Files, Host } from './host.ts'
import { localProcesses } from './processes.ts'
import { ripgrep } from './ripgrep.ts'
import { type Allowed, type Roots, rootsOf } from './roots.ts'
import { localSandbox, type SandboxOptions, type SandboxState } from './sandbox/sandbox.ts'

/** What a host of this machine may do. */
export interface LocalOptions extends Allowed {
  /** A folder of ours, outside of the others, for what commands print. Tools may read it. */
  readonly scratch: string
  /** Names of variables that commands may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  /** Whether and how commands are shut in. Without it they are not. */
  readonly sandbox?: SandboxOptions
  /** How many processes a command may have at a time before it is stopped; 1,000 without it. */
  readonly processLimit?: number
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
  const { scratch } = options
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
  const processes = localProcesses(roots, { ...options, sandbox })
  const companions = localCompanions({ ...options, sandbox })
  const filesIn = (within: Roots): Files => {
    const files = localFiles(within)
    return {
      ...files,
      async write(path, bytes, how) {
        sandbox.makeRoom(path)
        await files.write(path, bytes, how)
      },
      async list(path) {
        const entries = await files.list(path)
        const ours = sandbox.standingIn()
        return ours.size === 0 ? entries : entries.filter(({ name }) => !ours.has(`${path}/${name}`))
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
