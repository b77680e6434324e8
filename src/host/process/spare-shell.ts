import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { CommandShell } from './command-shell.ts'

export interface ShellTerms {
  /** Everything that decides what a command can do and see, apart from its own text; undefined if that is not known. */
  readonly key: unknown
  readonly start: () => CommandShell
  /** Nothing more is started on these terms. */
  readonly close: () => void
}

/**
 * A shell that waits for the next command, in its sandbox if there is one, so that the command need not wait for them. It is
 * used only for a command on the same terms, down to the files that are mounted; nothing ran in it before.
 */
export interface SpareShell {
  readonly isWaiting: boolean
  take(terms: ShellTerms): CommandShell | undefined
  /** Starts another one when there is nothing else to do, and closes the terms. */
  refill(terms: ShellTerms): void
  /** There is nothing else to do until the next command. */
  onIdle(): void
  close(): void
}

/**
 * Starting a process blocks us for milliseconds, in which what the command changed could be recorded, and the next request sent. So it
 * waits until we are idle; this long if nobody says so.
 */
const REFILL_DELAY_MS = 15

/** The next command of a model mostly comes sooner, and a server may have many sessions. */
const MAX_WAIT_MS = 10_000

export function createSpareShell(): SpareShell {
  let isClosed = false
  let isIdle = false
  let pending: { readonly terms: ShellTerms; readonly timer: NodeJS.Timeout } | undefined
  let spare: { readonly shell: CommandShell; readonly key: unknown; readonly timer: NodeJS.Timeout } | undefined

  function discard(): void {
    if (!spare) return
    clearTimeout(spare.timer)
    spare.shell.release()
    spare.shell.output.close(false)
    spare = undefined
  }

  function startPending(): void {
    if (!pending) return
    const { key, start, close } = pending.terms
    clearTimeout(pending.timer)
    pending = undefined
    discard()
    const shell = isClosed || key === undefined ? undefined : tryOrUndefined(start)
    close()
    if (!shell) return
    setReferenced(shell, false)
    spare = { shell, key, timer: setTimeout(discard, MAX_WAIT_MS).unref() }
  }

  function dropPending(): void {
    clearTimeout(pending?.timer)
    pending?.terms.close()
    pending = undefined
  }

  return {
    get isWaiting() {
      return spare !== undefined
    },
    take({ key }) {
      isIdle = false
      dropPending()
      const taken = spare && isWaiting(spare.shell) && isDeepStrictEqual(spare.key, key) ? spare : undefined
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
      dropPending()
      pending = { terms, timer: setTimeout(startPending, REFILL_DELAY_MS).unref() }
      if (isIdle) startPending()
    },
    onIdle() {
      isIdle = true
      startPending()
    },
    close() {
      isClosed = true
      dropPending()
      discard()
    },
  }
}

function isWaiting({ child: { pid, exitCode, signalCode } }: CommandShell): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

/** A spare shell must not keep us alive. */
function setReferenced({ child }: CommandShell, isReferenced: boolean): void {
  const status = child.stdio[4] as Socket | undefined
  for (const one of [child, status]) {
    if (isReferenced) one?.ref()
    else one?.unref()
  }
}
