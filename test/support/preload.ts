/** The variables with which the command runs some code before its own; `fs` is there to be changed. */
export function preload(code: string): { NODE_OPTIONS: string } {
  const whole = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    ${code}
    syncBuiltinESMExports()`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(whole)}` }
}

/** Does something when a file is there. */
export function whenThere(file: string, code: string): string {
  return `const timer = setInterval(() => {
    if (!fs.statSync(${JSON.stringify(file)}, { throwIfNoEntry: false })?.size) return
    clearInterval(timer)
    ${code}
  }, 10)
  timer.unref()`
}
