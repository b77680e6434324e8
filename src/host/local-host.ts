import { type StdioProcesses, createStdioProcesses } from './process/stdio-process.ts'
import { createLocalFiles } from './files/local-files.ts'
import type { Files, Host } from './host.ts'
import { describeQuarantined } from './process/start-command.ts'
import { createLocalProcesses, type ProcessOptions } from './process/local-processes.ts'
import { createRipgrepSearch } from './search/ripgrep.ts'
import { type AllowedPaths, type AllowedRoots, createAllowedRoots } from './files/allowed-roots.ts'
import { withLaunchAhead } from './sandbox/launch-ahead.ts'
import { createLocalSandbox, type SandboxOptions, type SandboxState } from './sandbox/sandbox.ts'
import { removeAbandonedWrites } from './files/write-lock.ts'
import { defined } from '../model/defined.ts'

/** The options of `localHost`. */
export interface LocalOptions extends AllowedPaths, Omit<ProcessOptions, 'sandbox' | 'takeNotices'> {
  /** A folder of ours that all processes share which may write the same files; they take turns there. */
  readonly locks?: string
  /** Whether and how commands run in a sandbox. Without it they do not. */
  readonly sandbox?: SandboxOptions
  /** Called when the host is closed, for each note about what commands changed that was not in the result of a command. */
  readonly onLateNote?: (note: string) => void
}

/** close() ends commands that still run. */
export interface LocalHost extends Host {
  /** Detected when it is first asked for. */
  sandbox(): Promise<SandboxState>
  readonly stdioProcesses: StdioProcesses
  close(): void
}

/** A host on this machine: file access and commands are limited to the given folders. */
export function localHost(options: LocalOptions): LocalHost {
  const { scratch, locks } = options
  if (locks !== undefined) removeAbandonedWrites(locks)
  const allowed: AllowedPaths = {
    get folders() {
      return options.folders
    },
    get readFolders() {
      return [...(options.readFolders ?? []), scratch]
    },
    ...defined({ extraFiles: options.extraFiles }),
  }
  const roots = createAllowedRoots(allowed)
  // Many sessions start no process.
  const sandbox = createOnUse(() =>
    withLaunchAhead(createLocalSandbox(options.sandbox ?? { mode: 'off' }, options, roots)),
  )
  const stdioProcesses = createOnUse(() => createStdioProcesses({ ...options, sandbox: sandbox.use() }))
  const takeNotices = (): string[] => stdioProcesses.used?.takeNotices() ?? []
  const processes = createOnUse(() => createLocalProcesses(roots, { ...options, sandbox: sandbox.use(), takeNotices }))
  const createFiles = (allowedRoots: AllowedRoots): Files => {
    const files = createLocalFiles(allowedRoots, locks)
    return {
      ...files,
      async write(path, bytes, writeOptions) {
        sandbox.use().approveWrite(path)
        await files.write(path, bytes, writeOptions)
      },
      async update(path, transform, writeOptions) {
        sandbox.use().approveWrite(path)
        await files.update(path, transform, writeOptions)
      },
      async remove(path) {
        sandbox.use().approveWrite(path)
        await files.remove(path)
      },
    }
  }
  return {
    files: createFiles(roots),
    processes: {
      run: (command) => processes.use().run(command),
      start: (command) => processes.use().start(command),
      listBackground: () => processes.used?.listBackground() ?? [],
      restoreBackground: () => processes.use().restoreBackground(),
      onIdle: () => processes.used?.onIdle(),
      prepare: async (folder) => processes.used?.prepare(folder),
    },
    search: createRipgrepSearch(roots),
    withAccess(access) {
      const widerRoots = createAllowedRoots({ ...allowed, access })
      return { files: createFiles(widerRoots), search: createRipgrepSearch(widerRoots) }
    },
    sandbox: () => sandbox.use().state(),
    stdioProcesses: {
      open: (program, listener) => stdioProcesses.use().open(program, listener),
      takeNotices,
      close: () => stdioProcesses.used?.close(),
    },
    close() {
      const notes = processes.used?.close() ?? []
      stdioProcesses.used?.close()
      const ofPrograms = takeNotices()
      const found = describeQuarantined(sandbox.used?.close(), 'a command or a program')
      for (const note of [...notes, ...ofPrograms, ...found]) options.onLateNote?.(note)
    },
  }
}

function createOnUse<T>(create: () => T): { readonly used: T | undefined; use(): T } {
  let used: T | undefined
  return {
    get used() {
      return used
    },
    use: () => (used ??= create()),
  }
}
