import { isObject } from '../../model/json.ts'
import type { GeminiContent, GeminiPart } from '../vendor-types/gemini.ts'

/** A history whose tokens are counted. */
export interface CountTokensRequest {
  readonly model: string
  readonly contents: readonly GeminiContent[]
  /** The request goes to Code Assist, which wants it in an envelope. */
  readonly codeAssist?: boolean
}

/**
 * Counts the tokens of a history with the `countTokens` method of Gemini or Code Assist. `send` posts the body and returns
 * the parsed response; an answer without a count is 0.
 */
export async function countTokens(
  request: CountTokensRequest,
  send: (body: Record<string, unknown>) => Promise<unknown>,
): Promise<number> {
  const response = await send(countTokensBody(request))
  const total = isObject(response) ? Number(response['totalTokens'] ?? 0) : 0
  return Number.isFinite(total) ? total : 0
}

/** The body of a `countTokens` request. The method does not know thoughts, so they are counted as text. */
export function countTokensBody({ model, contents, codeAssist }: CountTokensRequest): Record<string, unknown> {
  const counted = contents.map((content) => ({ ...content, parts: (content.parts ?? []).map(toCountedPart) }))
  return codeAssist ? { request: { model: `models/${model}`, contents: counted } } : { contents: counted }
}

function toCountedPart({ thought, thoughtSignature: _signature, ...part }: GeminiPart): GeminiPart {
  return thought ? { ...part, text: `[Thought: ${part.text ?? ''}]` } : part
}
