/** Aborts its signal if nothing has come for so many milliseconds. */
export function startSilenceTimer(ms: number) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), ms)
  return {
    signal: controller.signal,
    /** Something has come. */
    restart: (): void => void timer.refresh(),
    stop: (): void => clearTimeout(timer),
  }
}

export type SilenceTimer = ReturnType<typeof startSilenceTimer>
