import { closeSync, openSync, readdirSync, readSync } from 'node:fs'

/**
 * Says how often each thread below a process has run until now, if all of them sleep. Two equal answers mean that none of them
 * has run between, so what happened then was somebody else's doing. Nothing where that cannot be told: a thread that runs may
 * go on for long without being counted again.
 */
export function readThreadActivity(pid: number): string | undefined {
  try {
    const activity: string[] = []
    const pending = listChildPids(pid)
    if (pending.length === 0) return undefined
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      for (const thread of readdirSync(`/proc/${next}/task`)) {
        const at = `/proc/${next}/task/${thread}`
        // In this order: one that wakes up between is seen to run, and one that wakes up later is counted.
        const runCount = readSmallFile(`${at}/schedstat`).trim().split(' ')[2]
        const stat = readSmallFile(`${at}/stat`)
        // A kernel that does not count says 0 of all of them.
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
    // The kernel gives a page of a long list at a time.
    const text = readSmallFile(`/proc/${pid}/task/${thread}/children`, true).trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
}

const buffer = Buffer.alloc(64 * 1024)

/** Far cheaper than `readFileSync` for the small files of the kernel. */
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
