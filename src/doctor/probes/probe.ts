import type { Capabilities } from '../../provider/index.ts'
import type { ProbeContext } from '../probe-runner.ts'

/** `not offered` is no failure: the endpoint does not have the feature, or it could not be tested. */
export type ProbeStatus = 'passes' | 'degraded' | 'fails' | 'not offered'

export interface ProbeResult {
  readonly status: ProbeStatus
  readonly message: string
  /** The profile flags that follow from the result. */
  readonly capabilities?: Capabilities
}

/** A behaviour that every endpoint should have, and how it is tested. */
export interface Probe {
  readonly id: number
  readonly title: string
  /** The known failures that it tests (docs/failures.md). */
  readonly failureIds: string
  /** What the user can do if it fails. */
  readonly advice: string
  /** `live`, the default: asks the endpoint. `drill`: replays recorded bytes of the endpoint, with changes. */
  readonly mode?: 'live' | 'drill'
  /** Tools cannot be used with an endpoint that fails this probe. */
  readonly isRequired?: true
  /** Quirks that the request itself provokes. */
  readonly expectedQuirks?: readonly string[]
  readonly run: (context: ProbeContext) => Promise<ProbeResult>
}

export const passed = (message = ''): ProbeResult => ({ status: 'passes', message })
export const degraded = (message: string): ProbeResult => ({ status: 'degraded', message })
export const failed = (message: string): ProbeResult => ({ status: 'fails', message })
export const notOffered = (message: string): ProbeResult => ({ status: 'not offered', message })
