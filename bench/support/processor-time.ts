import { readdirSync, readFileSync } from 'node:fs'

/** The processor time of a process in seconds, with that of its children that have ended; 0 where the system does not say. */
export function readProcessorSeconds(pid: number): number {
  return readStat(pid)?.seconds ?? 0
}

/** The same with all children that still run. */
export function readTreeSeconds(pid: number): number {
  const pids = listProcesses().filter((one) => one === pid || readStat(one)?.parent === pid)
  return pids.reduce((sum, one) => sum + readProcessorSeconds(one), 0)
}

function listProcesses(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

function readStat(pid: number): { readonly parent: number; readonly seconds: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program may have blanks.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0)
    return { parent: fields[1] ?? 0, seconds: ticks / TICKS_PER_SECOND }
  } catch {
    // It has just ended.
    return undefined
  }
}

const TICKS_PER_SECOND = 100
