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
        while (items.length > 0) yield items.shift() as T
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
