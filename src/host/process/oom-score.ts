import { readFileSync, writeFileSync } from 'node:fs'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * If memory runs out, the system should end a command before anything else of the user. A child inherits the score of its
 * parent at its start; later its descendants could no longer be reached.
 */
export function withHighOomScore<T>(spawnChild: () => T): T {
  const previousScore = accessOomScore()
  if (previousScore === undefined) return spawnChild()
  try {
    accessOomScore('1000')
    return spawnChild()
  } finally {
    accessOomScore(previousScore)
  }
}

/** The score by which the system chooses what to end when memory runs out; sets it if a value is given. */
function accessOomScore(value?: string): string | undefined {
  return tryOrUndefined(() => {
    if (value !== undefined) writeFileSync(OOM_SCORE_PATH, value)
    return process.platform === 'linux' ? readFileSync(OOM_SCORE_PATH, 'latin1') : undefined
  })
}

const OOM_SCORE_PATH = '/proc/self/oom_score_adj'
