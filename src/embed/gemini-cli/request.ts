import type { GeminiContent } from '../vendor-types/gemini.ts'

/** One tool object with all declarations, or none without declarations. */
export function toolsForModel<Declaration extends object>(
  declarations: readonly Declaration[],
): { functionDeclarations: Declaration[] }[] {
  return declarations.length > 0 ? [{ functionDeclarations: [...declarations] }] : []
}

/** The parameters of `generateContent`, without what is empty. */
export function buildRequest<Content extends GeminiContent, Tool extends object>(
  model: string,
  contents: readonly Content[],
  systemInstruction: string | Content | undefined,
  tools: readonly Tool[],
): { model: string; contents: Content[]; config: { systemInstruction?: string | Content; tools?: Tool[] } } {
  return {
    model,
    contents: [...contents],
    config: {
      ...(systemInstruction !== undefined && systemInstruction !== '' && { systemInstruction }),
      ...(tools.length > 0 && { tools: [...tools] }),
    },
  }
}

/** The headers of a request to Gemini, with an API key or an OAuth token. */
export function headers(
  userAgent: string,
  credentials: { readonly oauthToken?: string | undefined; readonly apiKey?: string | undefined } = {},
): Record<string, string> {
  const { oauthToken, apiKey } = credentials
  return {
    ...(apiKey && { 'x-goog-api-key': apiKey }),
    ...(oauthToken && { Authorization: `Bearer ${oauthToken}` }),
    'User-Agent': userAgent,
    'Content-Type': 'application/json',
  }
}
