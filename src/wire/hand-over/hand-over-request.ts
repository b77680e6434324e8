import type { Profile } from '../../model/profile.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { EncodedRequest, Wire } from '../wire.ts'
import { listLostContent } from './lost-content.ts'
import { translateSettings } from './shared-settings.ts'

/** Encodes a request that may have been read from another API: what has a counterpart is translated, the rest is named. */
export function handOverRequest(request: ModelRequest, wire: Wire, profile: Profile): EncodedRequest {
  const translated = translateSettings(request, wire.id, profile)
  const encoded = wire.encodeRequest(translated, profile)
  return { ...encoded, warnings: [...encoded.warnings, ...listLostContent(translated, wire.id, profile)] }
}
