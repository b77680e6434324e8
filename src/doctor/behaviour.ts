import type { Facts } from '../provider/row.ts'
import type { Ward } from './ward.ts'

/** How an endpoint did. `not offered` is no fault: it does not have such a thing, or nobody could try it here. */
export type Status = 'passes' | 'degraded' | 'fails' | 'not offered'

/** What came of a probe, and a sentence about it. */
export interface Verdict {
  readonly status: Status
  readonly said: string
  /** Flags of the profile that it speaks for. */
  readonly facts?: Facts
}

/** Something that every endpoint should do, and how it is tried. */
export interface Behaviour {
  readonly id: number
  readonly title: string
  /** The failures that taught it. */
  readonly taught: string
  /** What a person can do where it is not so. */
  readonly advice: string
  /** Asked of the endpoint, or tried here on the bytes that it sent before, changed. */
  readonly how: 'live' | 'drill'
  /** Signs that the question itself asks for. */
  readonly but?: readonly string[]
  readonly probe: (ward: Ward) => Promise<Verdict>
}

/** All is well. */
export function passes(said = ''): Verdict {
  return { status: 'passes', said }
}

/** It works, but not as it should. */
export function degraded(said: string): Verdict {
  return { status: 'degraded', said }
}

/** It does not work. */
export function fails(said: string): Verdict {
  return { status: 'fails', said }
}

/** There is no such thing here. */
export function notOffered(said: string): Verdict {
  return { status: 'not offered', said }
}
