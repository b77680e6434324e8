import type { TurnEvent } from '../../model/event.ts'
import type { Json } from '../../model/json.ts'
import type { NativeData, WireId } from '../../model/turn.ts'
import { declareToolsForProfile } from '../declare-tools.ts'
import type { DecodeContext } from '../wire.ts'
import { defined } from '../../model/defined.ts'

export type PartEmitter = ReturnType<typeof createPartEmitter>

/** Numbers the parts of one turn and collects its events. */
export function createPartEmitter(wire: WireId, context: DecodeContext) {
  let events: TurnEvent[] = []
  let partCount = 0
  return {
    context,
    projection: declareToolsForProfile(context.tools, context.profile),
    emit: (event: TurnEvent): void => void events.push(event),
    warn: (code: string, message: string): void => void events.push({ type: 'warn', warning: { code, message } }),
    /** The index of the next part. */
    reserveIndex: () => partCount++,
    /** Native data of this wire and signer. */
    createNative: (id: string | undefined, data?: Json): NativeData => ({
      wire,
      signer: context.profile.signer,
      ...(id !== undefined && id !== '' && { id }),
      ...defined({ data }),
    }),
    /** The events since the last call. */
    takeEvents: (): TurnEvent[] => {
      const drained = events
      events = []
      return drained
    },
  }
}
