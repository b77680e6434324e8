import type { Sandbox, SandboxLaunch, SandboxLaunchOptions } from './sandbox.ts'

/** A command comes some milliseconds after its text is complete. */
const MAX_AGE_MS = 100

/**
 * A sandbox whose next launch can be prepared while the model still writes its response. That launch is used only for the next command,
 * if it comes soon, if no write to a protected path was approved meanwhile, and if nothing has appeared or disappeared where protected
 * paths and secrets would be.
 */
export function withLaunchAhead(sandbox: Sandbox): Sandbox {
  let ahead: { readonly key: string; readonly launch: SandboxLaunch; readonly timer: NodeJS.Timeout } | undefined
  /** What is being prepared is dropped if this changes meanwhile. */
  let generation = 0

  function discard(): void {
    generation++
    if (ahead) drop(ahead.launch)
    clearTimeout(ahead?.timer)
    ahead = undefined
  }

  return {
    ...sandbox,
    async prepareAhead(folder, options) {
      discard()
      const current = generation
      const launch = await sandbox.prepareLaunch(folder, options)
      if (!launch) return
      if (current !== generation) return drop(launch)
      ahead = { key: getKey(folder, options), launch, timer: setTimeout(discard, MAX_AGE_MS).unref() }
    },
    async prepareLaunch(folder, options) {
      const launch = ahead?.key === getKey(folder, options) && ahead.launch.isCurrent() ? ahead.launch : undefined
      if (launch) {
        clearTimeout(ahead?.timer)
        ahead = undefined
      }
      discard()
      return launch ?? sandbox.prepareLaunch(folder, options)
    },
    approveWrite(path) {
      discard()
      sandbox.approveWrite(path)
    },
    close() {
      discard()
      return sandbox.close()
    },
  }
}

function drop(launch: SandboxLaunch): void {
  launch.closeDescriptors()
  launch.release()
}

function getKey(folder: string, options: SandboxLaunchOptions): string {
  return JSON.stringify([folder, options])
}
