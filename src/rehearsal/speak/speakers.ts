import type { WireId } from '../../model/turn.ts'
import { anthropic } from './anthropic.ts'
import { codeAssist, gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'
import type { Speaker } from './speaker.ts'

/** The five writers. */
export const SPEAKERS: Readonly<Record<WireId, Speaker>> = {
  gemini,
  'code-assist': codeAssist,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
}
