import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { SandboxLaunch } from '../sandbox/sandbox.ts'
import { type ShellOptions, startWaitingShell, type WaitingShell } from './waiting-shell.ts'

/** What decides about everything that a command can do and see, apart from its own text. */
export interface ShellTerms {
  /** Absent without a sandbox. */
  readonly launch?: SandboxLaunch
  readonly options: ShellOptions
  /** The folder that it starts in, even if its name is given to another one. */
  readonly folder: string
}

/**
 * A shell that waits for the next command, in its sandbox if there is one, so that the command need not wait for them. It is
 * used only for a command on the same terms, down to the files that are mounted; nothing ran in it before.
 */
export interface SpareShell {
  take(terms: ShellTerms): WaitingShell | undefined
  /** Starts another one for the next command, while the launch is still prepared. */
  refill(terms: ShellTerms): void
  close(): void
}

/** The next command of a model mostly comes sooner, and a server may have many sessions. */
const MAX_WAIT_MS = 10_000

export function createSpareShell(): SpareShell {
  let spare: { readonly shell: WaitingShell; readonly key: unknown; readonly timer: NodeJS.Timeout } | undefined

  function discard(): void {
    if (!spare) return
    clearTimeout(spare.timer)
    spare.shell.release()
    spare.shell.output.close(false)
    spare = undefined
  }

  return {
    take(terms) {
      const isFit = spare?.shell.child.exitCode === null && isDeepStrictEqual(spare.key, createKey(terms))
      const taken = isFit ? spare : undefined
      if (!taken) {
        discard()
        return undefined
      }
      clearTimeout(taken.timer)
      spare = undefined
      setReferenced(taken.shell, true)
      return taken.shell
    },
    refill(terms) {
      discard()
      const { launch, options } = terms
      // Without its identity two launches cannot be compared.
      if (options.hasInput || (launch && launch.identity === undefined)) return
      const shell = startWaitingShell(launch, options)
      setReferenced(shell, false)
      spare = { shell, key: createKey(terms), timer: setTimeout(discard, MAX_WAIT_MS).unref() }
    },
    close: discard,
  }
}

function createKey({ launch, options, folder }: ShellTerms): unknown {
  const { program, args, identity } = launch ?? {}
  return { program, args, identity, folder, options: { ...options, cwd: '' } }
}

/** A spare shell must not keep us alive. */
function setReferenced({ child }: WaitingShell, isReferenced: boolean): void {
  const status = child.stdio[4] as Socket | undefined
  for (const one of [child, status]) {
    if (isReferenced) one?.ref()
    else one?.unref()
  }
}
