import type { CloseReason } from '../agent/loop/run-event.ts'
import type { StopReason } from './protocol.ts'

/** How the protocol calls the end of a run. */
export const STOP_REASONS: Readonly<Record<CloseReason, StopReason>> = {
  done: 'end_turn',
  'awaiting-approval': 'end_turn',
  'turn-limit': 'max_turn_requests',
  'time-limit': 'max_turn_requests',
  'cost-limit': 'max_turn_requests',
  loop: 'max_turn_requests',
  cancelled: 'cancelled',
  'output-lost': 'cancelled',
  length: 'max_tokens',
  filter: 'refusal',
  // The text says what happened; the protocol has no reason for it.
  fault: 'end_turn',
  unsaved: 'end_turn',
  'taken-over': 'end_turn',
}
