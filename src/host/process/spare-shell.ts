import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { SandboxLaunch } from '../sandbox/sandbox.ts'
import { type SandboxShell, type ShellOptions, startSandboxShell } from './sandbox-shell.ts'

/** What decides about everything that a command can do and see, apart from its own text. */
export interface ShellTerms {
  readonly launch: SandboxLaunch
  readonly options: ShellOptions
  /** The folder that it starts in, even if its name is given to another one. */
  readonly folder: string
}

/**
 * A shell in its sandbox that waits for the next command, so that the command need not wait for them. It is used only for a
 * command on the same terms, down to the files that are mounted; nothing ran in it before.
 */
export interface SpareShell {
  take(terms: ShellTerms): SandboxShell | undefined
  /** Starts another one when there is nothing else to do, and closes the descriptors of the launch. */
  refill(terms: ShellTerms): void
  close(): void
}

/** The next command of a model mostly comes sooner, and a server may have many sessions. */
const MAX_WAIT_MS = 10_000

export function createSpareShell(): SpareShell {
  let isClosed = false
  let spare: { readonly shell: SandboxShell; readonly key: unknown; readonly timer: NodeJS.Timeout } | undefined

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
    refill({ launch, ...terms }) {
      // The next request to the model is sent before.
      setImmediate(() => {
        discard()
        // Without its identity two launches cannot be compared.
        const shell = isClosed || launch.identity === undefined ? undefined : tryStart({ launch, ...terms })
        launch.closeDescriptors()
        if (!shell) return
        setReferenced(shell, false)
        spare = { shell, key: createKey({ launch, ...terms }), timer: setTimeout(discard, MAX_WAIT_MS).unref() }
      })
    },
    close() {
      isClosed = true
      discard()
    },
  }
}

function tryStart({ launch, options }: ShellTerms): SandboxShell | undefined {
  return tryOrUndefined(() => startSandboxShell(launch, options))
}

function createKey({ launch: { program, args, identity }, options, folder }: ShellTerms): unknown {
  return { program, args, identity, folder, options }
}

/** A spare shell must not keep us alive. */
function setReferenced({ child }: SandboxShell, isReferenced: boolean): void {
  const status = child.stdio[4] as Socket
  for (const one of [child, status]) {
    if (isReferenced) one.ref()
    else one.unref()
  }
}
