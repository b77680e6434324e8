import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import type { CommandShell } from './command-shell.ts'

export interface ShellTerms {
  /** Everything that decides what a command can do and see, apart from its own text; undefined if that is not known. */
  readonly key: unknown
  /** How many shells may wait. */
  readonly count: number
  readonly start: () => CommandShell
  /** Nothing more is started on these terms. */
  readonly close: () => void
}

/**
 * Shells that wait for the next commands, in their sandbox if there is one, so that a command need not wait for them. They are
 * used only for commands on the same terms, down to the files that are mounted; nothing ran in them before.
 */
export interface SpareShell {
  readonly isWaiting: boolean
  take(terms: ShellTerms): CommandShell | undefined
  /** Starts as many as may wait when there is nothing else to do, and closes the terms. */
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

interface WaitingShell {
  readonly shell: CommandShell
  readonly key: unknown
  readonly timer: NodeJS.Timeout
}

export function createSpareShell(): SpareShell {
  let isClosed = false
  let isIdle = false
  let pending: { readonly terms: ShellTerms; readonly timer: NodeJS.Timeout } | undefined
  const waiting: WaitingShell[] = []

  function discard(one: WaitingShell): void {
    waiting.splice(waiting.indexOf(one), 1)
    clearTimeout(one.timer)
    one.shell.release()
    one.shell.output.close(false)
  }

  function discardOthers(key: unknown): void {
    const others = waiting.filter((one) => !isWaiting(one.shell) || !isDeepStrictEqual(one.key, key))
    for (const one of others) discard(one)
  }

  function startPending(): void {
    if (!pending) return
    const { key, count, start, close } = pending.terms
    clearTimeout(pending.timer)
    pending = undefined
    discardOthers(key)
    const missing = isClosed || key === undefined ? 0 : count - waiting.length
    for (let at = 0; at < missing; at++) {
      const shell = tryOrUndefined(start)
      if (!shell) break
      setReferenced(shell, false)
      const one: WaitingShell = { shell, key, timer: setTimeout(() => discard(one), MAX_WAIT_MS).unref() }
      waiting.push(one)
    }
    close()
  }

  function dropPending(): void {
    clearTimeout(pending?.timer)
    pending?.terms.close()
    pending = undefined
  }

  return {
    get isWaiting() {
      return waiting.length > 0
    },
    take({ key }) {
      isIdle = false
      dropPending()
      discardOthers(key)
      const taken = waiting.shift()
      if (!taken) return undefined
      clearTimeout(taken.timer)
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
      while (waiting[0]) discard(waiting[0])
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
