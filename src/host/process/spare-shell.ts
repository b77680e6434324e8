import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { SandboxLaunch } from '../sandbox/sandbox.ts'
import { type SandboxShell, type ShellOptions, startSandboxShell } from './sandbox-shell.ts'

/**
 * A shell in a sandbox that waits for its command, so that the next command need not wait for its sandbox. It is used only
 * for a command whose own sandbox would be the same, down to the files that are mounted; nothing ran in it before.
 */
export interface SpareShell {
  /** The spare one, if it is as this launch would be. */
  take(launch: SandboxLaunch, options: ShellOptions): SandboxShell | undefined
  /** Starts another one for the next command, while this launch is still prepared. */
  refill(launch: SandboxLaunch, options: ShellOptions): void
  close(): void
}

/** The next command of a model mostly comes sooner. */
const MAX_WAIT_MS = 60_000

export function createSpareShell(): SpareShell {
  let spare: { readonly shell: SandboxShell; readonly terms: unknown; readonly timer: NodeJS.Timeout } | undefined

  function discard(): void {
    if (!spare) return
    clearTimeout(spare.timer)
    spare.shell.release()
    spare.shell.output.close(false)
    spare = undefined
  }

  return {
    take(launch, options) {
      const isFit = spare?.shell.child.exitCode === null && isDeepStrictEqual(spare.terms, getTerms(launch, options))
      if (!isFit || !spare) {
        discard()
        return undefined
      }
      const { shell, timer } = spare
      clearTimeout(timer)
      spare = undefined
      setReferenced(shell, true)
      return shell
    },
    refill(launch, options) {
      discard()
      if (launch.identity === undefined || options.hasInput) return
      const shell = startSandboxShell(launch, options)
      setReferenced(shell, false)
      const timer = setTimeout(discard, MAX_WAIT_MS).unref()
      spare = { shell, terms: getTerms(launch, options), timer }
    },
    close: discard,
  }
}

/** Everything that decides what a command can do and see. */
function getTerms({ program, args, identity }: SandboxLaunch, options: ShellOptions): unknown {
  return identity === undefined ? {} : { program, args, identity, options: { ...options, cwd: undefined } }
}

/** A spare shell must not keep us alive. */
function setReferenced({ child }: SandboxShell, isReferenced: boolean): void {
  const status = child.stdio[4] as Socket
  for (const one of [child, status]) {
    if (isReferenced) one.ref()
    else one.unref()
  }
}
