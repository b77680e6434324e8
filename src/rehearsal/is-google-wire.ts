import type { WireId } from '../model/turn.ts'

/** Both have Gemini's shapes; Code Assist wraps them in an envelope. */
export function isGoogleWire(wire: WireId): boolean {
  return wire === 'gemini' || wire === 'code-assist'
}
