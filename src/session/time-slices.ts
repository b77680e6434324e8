/** Divides long work into slices, so that the rest of the process does not wait for all of it. */
export interface TimeSlices {
  /** Is it time to call `pause`? Cheap enough to be asked for each entry. */
  readonly isOver: () => boolean
  readonly pause: () => Promise<void>
}

/** The first slice begins now. Work that is shorter than a slice never pauses. */
export function createTimeSlices(): TimeSlices {
  let started = getTime()
  return {
    isOver: () => getTime() - started > SLICE_MS,
    async pause() {
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      started = getTime()
    },
  }
}

const SLICE_MS = 8

/** In milliseconds. Not `performance.now`, which loads another module at the start. */
const getTime = (): number => process.uptime() * 1000
