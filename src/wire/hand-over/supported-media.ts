import type { Profile } from '../../model/profile.ts'
import type { MediaPart, WireId } from '../../model/turn.ts'
import { isSupportedMedia as isSupportedByAnthropic } from '../anthropic/encode-messages.ts'
import { isSupportedMedia as isSupportedByGemini } from '../gemini/encode-results.ts'
import { isSupportedMedia as isSupportedByInteractions } from '../interactions/content.ts'
import { isSupportedMedia as isSupportedByChat } from '../openai-chat/encode-request.ts'
import { isSupportedMedia as isSupportedByResponses } from '../openai-responses/encode-input.ts'

/** Can media of the user or of a result be sent to this endpoint? If not, the encoders put a sentence in their place. */
export const SUPPORTED_MEDIA: Readonly<Record<WireId, (part: MediaPart, profile: Profile) => boolean>> = {
  anthropic: isSupportedByAnthropic,
  gemini: isSupportedByGemini,
  'code-assist': isSupportedByGemini,
  interactions: isSupportedByInteractions,
  'openai-chat': isSupportedByChat,
  'openai-responses': isSupportedByResponses,
}
