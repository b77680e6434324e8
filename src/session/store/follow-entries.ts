import type { Entry } from '../log/entry.ts'
import { orAborted } from './or-aborted.ts'
import type { FollowOptions } from './store.ts'

/** `upTo` is the highest number that was looked at. */
interface EntryPage {
  readonly entries: readonly Entry[]
  readonly upTo: number
}

/** Where a follower gets the entries of one session. */
export interface EntrySource {
  /** The saved entries with a higher number, in order. */
  readonly readAfter: (after: number, signal: AbortSignal) => Promise<EntryPage>
  /** Calls back soon if there are entries already, and whenever some may have been saved; too often does no harm. */
  readonly watch: (onChange: () => void, getLast: () => number) => { readonly stop: () => void }
}

/** Follows a session: reads what is there, and again whenever something may have been saved. */
export function followEntries(openSource: () => EntrySource, options: FollowOptions = {}): AsyncIterable<Entry> {
  return {
    [Symbol.asyncIterator]() {
      const { after = 0, signal } = options
      const stop = new AbortController()
      const entries = readAndWatch(openSource, after, stop.signal)
      const onAbort = (): void => stop.abort()
      if (signal?.aborted) stop.abort()
      else signal?.addEventListener('abort', onAbort, { once: true })
      const end = (): void => {
        stop.abort()
        signal?.removeEventListener('abort', onAbort)
      }
      return {
        async next() {
          try {
            const next = await entries.next()
            if (next.done) end()
            return next
          } catch (error) {
            end()
            throw error
          }
        },
        // Otherwise it would wait until the next entry.
        async return() {
          end()
          return entries.return(undefined)
        },
      }
    },
  }
}

async function* readAndWatch(
  openSource: () => EntrySource,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Entry, undefined> {
  if (signal.aborted) return undefined
  const source = openSource()
  let last = after
  let hasChanged = false
  let wake: (() => void) | undefined
  signal.addEventListener('abort', () => wake?.(), { once: true })
  const watch = source.watch(
    () => {
      hasChanged = true
      wake?.()
    },
    () => last,
  )
  try {
    for (;;) {
      if (!hasChanged && !isAborted(signal)) await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
      if (isAborted(signal)) return undefined
      hasChanged = false
      const { entries, upTo } = await readUnlessAborted(source, last, signal)
      for (const entry of entries) {
        if (isAborted(signal)) return undefined
        if (entry.seq <= last) continue
        last = entry.seq
        yield entry
      }
      last = Math.max(last, upTo)
    }
  } finally {
    watch.stop()
  }
}

/** A reading that hangs does not keep a follower from ending. */
async function readUnlessAborted(source: EntrySource, after: number, signal: AbortSignal): Promise<EntryPage> {
  try {
    return await orAborted(source.readAfter(after, signal), signal)
  } catch (error) {
    if (signal.aborted) return { entries: [], upTo: after }
    throw error
  }
}

/** The signal may be aborted during any wait, which the compiler does not know. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted
