import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalHost, LocalOptions } from '../../host/local.ts'
import type { RunArgs } from '../line/args.ts'
import type { Settings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { dataFolder, ownFolders, sessionsFolder } from '../own/places.ts'

/** What a command line says about the sandbox. */
type Wish = Pick<RunArgs, 'sandbox' | 'network' | 'writeCaches'>

type ShutIn = Pick<LocalOptions, 'onUnboxed' | 'memoryLimit' | 'fileLimit'> & Required<Pick<LocalOptions, 'sandbox'>>

const MEGABYTE = 2 ** 20

/** How commands are shut in, by what the person said and settled. */
export function shutIn(args: Wish, { config, policies }: Settings, folder: string): ShutIn {
  const { writeCaches, memory, fileSize, network = false } = config.sandboxOptions ?? {}
  return {
    sandbox: {
      mode: args.sandbox ?? config.sandbox ?? 'auto',
      network: args.network ?? network,
      protect: Object.values(policies).flatMap(({ protectedWrites = [] }) => protectedWrites),
      secret: ownFolders(),
      caches: join(sessionsFolder(folder), 'caches'),
      writeCaches: args.writeCaches ?? writeCaches ?? false,
    },
    ...(memory !== undefined && { memoryLimit: memory * MEGABYTE }),
    ...(fileSize !== undefined && { fileLimit: fileSize * MEGABYTE }),
    onUnboxed: tellOnce,
  }
}

/** Whoever demands a sandbox must know before anything runs that there is none. */
export async function demandSandbox(args: Wish, { config }: Settings, host: LocalHost): Promise<void> {
  if ((args.sandbox ?? config.sandbox) !== 'on') return
  const state = await host.sandbox()
  if (state.inForce) return
  const remedy = state.remedy === undefined ? '' : ` ${state.remedy}`
  throw new Complaint(
    `commands cannot run in a sandbox here: ${state.why}${remedy} Or go on without: --sandbox off`,
    EXIT.config,
  )
}

/** A person is told once on this machine, not with every run. */
function tellOnce(why: string): void {
  const mark = join(dataFolder(), 'told-no-sandbox')
  if (existsSync(mark)) return
  process.stderr.write(
    `dragoman: ${why} Until then only commands that are proved harmless, or that you allowed, run unasked.\n`,
  )
  try {
    writeFileSync(mark, '', { mode: 0o600 })
  } catch {
    // Then they are told again.
  }
}
