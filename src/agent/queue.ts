/** A queue that several writers put into and one reader takes from, as an async iterable. */
export interface Queue<T> extends AsyncIterable<T> {
  push(item: T): void
  end(): void
}

/** Makes an empty queue. */
export function queue<T>(): Queue<T> {
  const items: T[] = []
  let ended = false
  let wake: (() => void) | undefined

  function stir(): void {
    wake?.()
    wake = undefined
  }

  return {
    push(item) {
      items.push(item)
      stir()
    },
    end() {
      ended = true
      stir()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        // All at once: to take them one by one off the front of a long queue would take longer each time.
        while (items.length > 0) yield* items.splice(0)
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
