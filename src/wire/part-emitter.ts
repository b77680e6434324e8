import type { TurnEvent } from '../model/event.ts'
import type { Json } from '../model/json.ts'
import type { Native, WireId } from '../model/turn.ts'
import type { Projection } from '../schema/project.ts'
import { declare } from './declare.ts'
import type { Reading } from './wire.ts'

/** Numbers the parts of one turn and collects its events. */
export interface PartEmitter {
  readonly reading: Reading
  readonly projection: Projection
  emit(event: TurnEvent): void
  warn(code: string, message: string): void
  /** The index of the next part. */
  reserve(): number
  /** Seals vendor data for this wire and signer. */
  seal(id: string | undefined, data?: Json): Native
  /** The events since the last time. */
  take(): TurnEvent[]
}

/** Makes the emitter of one turn. */
export function createPartEmitter(wire: WireId, reading: Reading): PartEmitter {
  let events: TurnEvent[] = []
  let parts = 0
  return {
    reading,
    projection: declare(reading.tools, reading.profile),
    emit: (event) => void events.push(event),
    warn: (code, message) => void events.push({ type: 'warn', warning: { code, message } }),
    reserve: () => parts++,
    seal: (id, data) => ({
      wire,
      signer: reading.profile.signer,
      ...(id !== undefined && id !== '' && { id }),
      ...(data !== undefined && { data }),
    }),
    take() {
      const taken = events
      events = []
      return taken
    },
  }
}
