import type { TurnEvent } from '../../model/event.ts'
import type { Json } from '../../model/json.ts'
import type { NativeData, WireId } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { declareToolsForProfile } from '../declare-tools.ts'
import type { DecodeContext } from '../wire.ts'
import { defined } from '../../model/defined.ts'

/** Numbers the parts of one turn and collects its events. */
export interface PartEmitter {
  readonly context: DecodeContext
  readonly projection: ToolDeclarations
  emit(event: TurnEvent): void
  warn(code: string, message: string): void
  /** The index of the next part. */
  reserveIndex(): number
  /** Native data of this wire and signer. */
  createNative(id: string | undefined, data?: Json): NativeData
  /** The events since the last call. */
  takeEvents(): TurnEvent[]
}

export function createPartEmitter(wire: WireId, context: DecodeContext): PartEmitter {
  let events: TurnEvent[] = []
  let partCount = 0
  return {
    context,
    projection: declareToolsForProfile(context.tools, context.profile),
    emit: (event) => void events.push(event),
    warn: (code, message) => void events.push({ type: 'warn', warning: { code, message } }),
    reserveIndex: () => partCount++,
    createNative: (id, data) => ({
      wire,
      signer: context.profile.signer,
      ...(id !== undefined && id !== '' && { id }),
      ...defined({ data }),
    }),
    takeEvents() {
      const drained = events
      events = []
      return drained
    },
  }
}
