/** A queue with several writers and one reader. */
interface AsyncQueue<T> extends AsyncIterable<T> {
  push(item: T): void
  end(): void
}

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
        // All at once: removing items one by one from the front of a long array is slow.
        while (items.length > 0) yield* items.splice(0)
        if (isEnded) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
