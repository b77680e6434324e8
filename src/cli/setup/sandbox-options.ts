import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalHost, LocalOptions } from '../../host/local-host.ts'
import type { RunArgs } from '../args/run-args.ts'
import type { Settings } from '../config/read-settings.ts'
import { escapeForTerminal } from '../output/escape.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { getDataFolder, listPrivateFolders, getSessionsFolder } from '../paths/folders.ts'

type SandboxArgs = Pick<RunArgs, 'sandbox' | 'network' | 'writeCaches'>

type SandboxOptions = Pick<LocalOptions, 'onUnsandboxed' | 'onLateNote' | 'memoryLimit' | 'fileLimit'> &
  Required<Pick<LocalOptions, 'sandbox'>>

const BYTES_PER_MEGABYTE = 2 ** 20

export function toSandboxOptions(args: SandboxArgs, { config, policies }: Settings, folder: string): SandboxOptions {
  const { writeCaches, memory, fileSize, network = false } = config.sandboxOptions ?? {}
  return {
    sandbox: {
      mode: args.sandbox ?? config.sandbox ?? 'auto',
      network: args.network ?? network,
      protect: Object.values(policies).flatMap(({ protectedWrites = [] }) => protectedWrites),
      hiddenFolders: listPrivateFolders(),
      caches: join(getSessionsFolder(folder), 'caches'),
      writeCaches: args.writeCaches ?? writeCaches ?? false,
    },
    ...(memory !== undefined && { memoryLimit: memory * BYTES_PER_MEGABYTE }),
    ...(fileSize !== undefined && { fileLimit: fileSize * BYTES_PER_MEGABYTE }),
    onUnsandboxed: warnOnce,
    onLateNote: (note) => void process.stderr.write(`dragoman: ${escapeForTerminal(note)}\n`),
  }
}

/** With `on`, nothing runs without a sandbox. */
export async function requireSandbox(args: SandboxArgs, { config }: Settings, host: LocalHost): Promise<void> {
  if ((args.sandbox ?? config.sandbox) !== 'on') return
  const state = await host.sandbox()
  if (state.isActive) return
  const remedy = state.remedy === undefined ? '' : ` ${state.remedy}`
  throw new UserError(
    `commands cannot run in a sandbox here: ${state.why}${remedy} To run without one: --sandbox off`,
    EXIT_CODE.config,
  )
}

/** Once on this machine, not with every run. */
function warnOnce(why: string): void {
  const markerFile = join(getDataFolder(), 'told-no-sandbox')
  if (existsSync(markerFile)) return
  process.stderr.write(
    `dragoman: ${why} Until then, only read-only commands and commands that you allowed run without approval.\n`,
  )
  try {
    writeFileSync(markerFile, '', { mode: 0o600 })
  } catch {
    // Then it is shown again.
  }
}
