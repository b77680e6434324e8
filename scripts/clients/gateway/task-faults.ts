import type { WireId } from '../../../src/model/turn.ts'
import { type Misbehaviour, MISBEHAVIOURS } from '../../../src/rehearsal/misbehaviour/misbehaviour.ts'

/** Something that goes wrong upstream at one turn of the task. */
export interface TaskFault {
  readonly id: string
  readonly turn: number
  readonly misbehave: readonly Misbehaviour[]
}

const READS = 1
export const EDIT_TURN = 2

/** The gateway itself tries a request three times, so the client gets one of these errors, or more on its own wire. */
const OFTEN = { times: 3 }

export const TASK_FAULTS: readonly TaskFault[] = [
  { id: 'cut', turn: EDIT_TURN, misbehave: [{ kind: 'cut', at: 'arguments', times: 1 }] },
  { id: 'stall', turn: EDIT_TURN, misbehave: [{ kind: 'stall', at: 'arguments', ms: 8000, times: 1 }] },
  { id: '429', turn: EDIT_TURN, misbehave: [{ kind: 'status', status: 429, hint: 'seconds', wait: 1000, ...OFTEN }] },
  { id: '503', turn: EDIT_TURN, misbehave: [{ kind: 'status', status: 503, hint: 'none', ...OFTEN }] },
  { id: 'index missing', turn: READS, misbehave: [{ kind: 'index-missing' }] },
  { id: 'split names', turn: READS, misbehave: [{ kind: 'name-split' }] },
  { id: 'duplicate ids', turn: READS, misbehave: [{ kind: 'ids-same' }] },
  { id: 'malformed call', turn: EDIT_TURN, misbehave: [{ kind: 'malformed-call', times: 1 }] },
]

/** Seconds without progress after which the gateway gives up: less than the stall. */
export const REQUEST_TIMEOUT_SECONDS = 4

/** Does it mean something on this wire? */
export function isFaultOf({ misbehave }: TaskFault, wire: WireId): boolean {
  return misbehave.every(({ kind }) => {
    const { wires } = MISBEHAVIOURS[kind] as { readonly wires?: readonly WireId[] }
    return wires === undefined || wires.includes(wire)
  })
}
