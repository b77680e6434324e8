import type { WireId } from '../model/turn.ts'
import type { Framing } from './framing.ts'
import type { Speaker, Wants } from './speak/speaker.ts'

/** How an answer is to be given. */
export interface Performance {
  readonly wire: WireId
  readonly speaker: Speaker
  readonly wants: Wants
  readonly stream: boolean
  readonly framing: Framing
  /** Errors come inside an array, as Google sends them to those who asked for a stream of JSON. */
  readonly arrayed: boolean
  readonly delay: number
  readonly pace: number
}
