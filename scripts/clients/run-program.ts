import { spawn } from 'node:child_process'

export interface ProgramEnd {
  /** Null if it had to be ended. */
  readonly exitCode: number | null
  readonly output: string
}

/** Runs a program to its end, or ends it and all that it has started. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Promise<ProgramEnd> {
  return new Promise((done, failed) => {
    // A process group of its own, so that nothing that the client has started is left.
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    const endGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
    const timer = setTimeout(endGroup, TIMEOUT_MS)
    child.on('error', failed)
    child.on('exit', endGroup)
    child.on('close', (exitCode) => {
      clearTimeout(timer)
      done({ exitCode, output })
    })
  })
}

const TIMEOUT_MS = 180_000
