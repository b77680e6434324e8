/** Divides long work into slices, so that the rest of the process does not wait for all of it. */
export interface TimeSlices {
  /** Is it time to call `pause`? Cheap enough to be asked for each entry. */
  readonly isOver: () => boolean
  readonly pause: () => Promise<void>
}

/** The first slice begins now. Work that is shorter than a slice never pauses. */
export function createTimeSlices(): TimeSlices {
  let started = performance.now()
  return {
    isOver: () => performance.now() - started > SLICE_MS,
    async pause() {
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      started = performance.now()
    },
  }
}

const SLICE_MS = 8
