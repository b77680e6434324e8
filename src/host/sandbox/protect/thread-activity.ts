import { closeSync, openSync, readdirSync, readSync } from 'node:fs'

/**
 * How often each thread below a process has run, if all of them sleep. Two equal results mean that none has run in between,
 * so what happened then was somebody else's doing. Undefined if that cannot be told: a running thread may continue for long
 * without being counted again.
 */
export function readThreadActivity(pid: number): string | undefined {
  try {
    const activity: string[] = []
    const pending = listChildPids(pid)
    if (pending.length === 0) return undefined
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      for (const thread of readdirSync(`/proc/${next}/task`)) {
        const at = `/proc/${next}/task/${thread}`
        // In this order: a thread that wakes up in between is seen running, and one that wakes up later is counted.
        const runCount = readSmallFile(`${at}/schedstat`).trim().split(' ')[2]
        const stat = readSmallFile(`${at}/stat`)
        // A kernel without this statistic reports 0 for all threads.
        if (runCount === undefined || runCount === '0' || stat[stat.lastIndexOf(')') + 2] === 'R') return undefined
        activity.push(`${thread}:${runCount}`)
      }
      pending.push(...listChildPids(next))
    }
    return activity.sort().join(' ')
  } catch {
    return undefined
  }
}

function listChildPids(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    // The kernel returns a long list page by page.
    const text = readSmallFile(`/proc/${pid}/task/${thread}/children`, true).trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
}

const buffer = Buffer.alloc(64 * 1024)

/** Far cheaper than `readFileSync` for small kernel files. */
function readSmallFile(path: string, isLong = false): string {
  const descriptor = openSync(path, 'r')
  try {
    let text = ''
    for (let count = -1; count !== 0; count = isLong ? count : 0) {
      count = readSync(descriptor, buffer)
      text += buffer.toString('latin1', 0, count)
    }
    return text
  } finally {
    closeSync(descriptor)
  }
}
