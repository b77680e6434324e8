import { type Group, stopNow } from './group.ts'

/** Processes of ours that have not ended; they end with us, however we end. */
const unfinished = new Set<Group>()

/** Takes care that a group of processes does not outlive us. */
export function endWithUs(group: Group): void {
  if (unfinished.size === 0 && !process.listeners('exit').includes(endAll)) process.on('exit', endAll)
  unfinished.add(group)
}

/** The group has ended, or may go on without us. */
export function letGo(group: Group): void {
  unfinished.delete(group)
}

function endAll(): void {
  for (const group of unfinished) stopNow(group)
}
