/** A queue that several writers put into and one reader takes from, as an async iterable. */
export interface AsyncQueue<T> extends AsyncIterable<T> {
  push(item: T): void
  end(): void
}

/** Makes an empty queue. */
export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: T[] = []
  let isEnded = false
  let wake: (() => void) | undefined

  function wakeReader(): void {
    wake?.()
    wake = undefined
  }

  return {
    push(item) {
      items.push(item)
      wakeReader()
    },
    end() {
      isEnded = true
      wakeReader()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        // All at once: to take them one by one off the front of a long queue would take longer each time.
        while (items.length > 0) yield* items.splice(0)
        if (isEnded) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
