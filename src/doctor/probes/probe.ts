import type { Capabilities } from '../../provider/provider-definition.ts'
import type { ProbeContext } from '../probe-runner.ts'

/** How an endpoint did. `not offered` is no fault: it does not have such a thing, or nobody could try it here. */
export type ProbeStatus = 'passes' | 'degraded' | 'fails' | 'not offered'

/** What came of a probe, and a sentence about it. */
export interface ProbeResult {
  readonly status: ProbeStatus
  readonly message: string
  /** Flags of the profile that it speaks for. */
  readonly capabilities?: Capabilities
}

/** Something that every endpoint should do, and how it is tried. */
export interface Probe {
  readonly id: number
  readonly title: string
  /** The failures that taught it. */
  readonly failureIds: string
  /** What a person can do where it is not so. */
  readonly advice: string
  /** Asked of the endpoint, or tried here on the bytes that it sent before, changed. */
  readonly mode: 'live' | 'drill'
  /** Tools cannot be used with an endpoint that fails this probe. */
  readonly isRequired?: true
  /** Signs that the question itself asks for. */
  readonly expectedQuirks?: readonly string[]
  readonly run: (context: ProbeContext) => Promise<ProbeResult>
}

/** All is well. */
export function passedResult(message = ''): ProbeResult {
  return { status: 'passes', message }
}

/** It works, but not as it should. */
export function degradedResult(message: string): ProbeResult {
  return { status: 'degraded', message }
}

/** It does not work. */
export function failedResult(message: string): ProbeResult {
  return { status: 'fails', message }
}

/** There is no such thing here. */
export function notOfferedResult(message: string): ProbeResult {
  return { status: 'not offered', message }
}
