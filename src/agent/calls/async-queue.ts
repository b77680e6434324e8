/** A queue with several writers and one reader. */
interface AsyncQueue<T> extends AsyncIterable<T> {
  push(item: T): void
  end(): void
  /** Waits for items, and removes all of them; none are left if the list is empty. */
  takeAll(): Promise<readonly T[]>
}

export function createAsyncQueue<T>(): AsyncQueue<T> {
  const items: T[] = []
  let isEnded = false
  let wake: (() => void) | undefined

  function wakeReader(): void {
    wake?.()
    wake = undefined
  }

  async function takeAll(): Promise<readonly T[]> {
    if (items.length === 0 && !isEnded)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return items.splice(0)
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
    takeAll,
    async *[Symbol.asyncIterator]() {
      for (let batch = await takeAll(); batch.length > 0; batch = await takeAll()) for (const item of batch) yield item
    },
  }
}
