import { readdirSync, readFileSync } from 'node:fs'

/**
 * Says how often each thread below a process has run until now. Two equal answers mean that none of them has run between, so
 * what happened then was somebody else's doing. Nothing where that cannot be told, or where the process has ended.
 */
export function activityBelow(pid: number): string | undefined {
  try {
    const found: string[] = []
    const todo = childrenOf(pid)
    if (todo.length === 0) return undefined
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      for (const thread of readdirSync(`/proc/${next}/task`)) {
        const turns = readFileSync(`/proc/${next}/task/${thread}/schedstat`, 'latin1').trim().split(' ')[2]
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
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.flatMap((thread) => {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
}
