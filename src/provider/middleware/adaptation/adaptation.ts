import type { Fault } from '../../../model/fault.ts'
import type { Profile } from '../../../model/profile.ts'
import type { WireId } from '../../../model/turn.ts'
import type { Capabilities } from '../../provider-definition.ts'

/** Something that an endpoint taught us by refusing a request: the flags to change, and what a person is told. */
export interface Adaptation {
  readonly capabilities: Capabilities
  readonly description: string
}

/** What a refusal says, and of what. */
export interface RequestRefusal {
  readonly message: string
  readonly param: string
  readonly wire: WireId
  readonly profile: Profile
}

/** A refusal in its words. Long messages quote the request, which may talk about anything. */
export function toRequestRefusal(fault: Fault, wire: WireId, profile: Profile): RequestRefusal {
  return { message: fault.message.slice(0, 800), param: fault.param ?? '', wire, profile }
}
