import { closeSync, openSync, readdirSync, readSync } from 'node:fs'

/**
 * Says how often each thread below a process has run until now, if all of them sleep. Two equal answers mean that none of them
 * has run between, so what happened then was somebody else's doing. Nothing where that cannot be told: a thread that runs may
 * go on for long without being counted again.
 */
export function activityBelow(pid: number): string | undefined {
  try {
    const found: string[] = []
    const todo = childrenOf(pid)
    if (todo.length === 0) return undefined
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      for (const thread of readdirSync(`/proc/${next}/task`)) {
        const at = `/proc/${next}/task/${thread}`
        // In this order: one that wakes up between is seen to run, and one that wakes up later is counted.
        const turns = textOf(`${at}/schedstat`).trim().split(' ')[2]
        const stat = textOf(`${at}/stat`)
        // A kernel that does not count says 0 of all of them.
        if (turns === undefined || turns === '0' || stat[stat.lastIndexOf(')') + 2] === 'R') return undefined
        found.push(`${thread}:${turns}`)
      }
      todo.push(...childrenOf(next))
    }
    return found.sort().join(' ')
  } catch {
    return undefined
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    // The kernel gives a page of a long list at a time.
    const text = textOf(`/proc/${pid}/task/${thread}/children`, true).trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
}

const buffer = Buffer.alloc(64 * 1024)

/** Far cheaper than `readFileSync` for the small files of the kernel. */
function textOf(path: string, isLong = false): string {
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
