import type { Fault } from '../../../model/fault.ts'
import type { Profile } from '../../../model/profile.ts'
import type { WireId } from '../../../model/turn.ts'
import type { Capabilities } from '../../provider-definition.ts'

/** What a refused request taught us about an endpoint: the flags to change, and a predicate for the user's notice. */
export interface EndpointAdaptation {
  readonly capabilities: Capabilities
  readonly description: string
}

export interface RequestRefusal {
  readonly message: string
  readonly param: string
  readonly wire: WireId
  readonly profile: Profile
  /** Did the request ask for an answer of a given format? */
  readonly hasOutput: boolean
}

/** Long messages quote the request, which may contain anything. */
export function toRequestRefusal(fault: Fault, wire: WireId, profile: Profile, hasOutput: boolean): RequestRefusal {
  return { message: fault.message.slice(0, 800), param: fault.param ?? '', wire, profile, hasOutput }
}
