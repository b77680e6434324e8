// A lock between processes, so that two commands started at once do not install or build over each other.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inRoot } from './files.mjs'

/** Is there a process with this id? */
export function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Runs the work while holding the lock; waits for a holder that lives, takes over from one that died. */
export async function withLock(work) {
  mkdirSync(inRoot('.build'), { recursive: true })
  const path = inRoot('.build/lock')
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = holderOf(path)
    if (holder !== undefined && !isAlive(holder)) rmSync(path, { force: true })
    else await sleep(100)
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** The process id in the lock file; undefined when the file has just gone, or is just being written. */
function holderOf(path) {
  try {
    return Number(readFileSync(path, 'utf8')) || undefined
  } catch {
    return undefined
  }
}
