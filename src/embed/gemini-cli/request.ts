import type { Content, FunctionDeclaration, GenerateContentParameters, Tool } from '@google/genai'

/** Puts all declarations into the one tool that a request carries; no declarations, no tool. */
export function toolsForModel(declarations: readonly FunctionDeclaration[]): Tool[] {
  return declarations.length > 0 ? [{ functionDeclarations: [...declarations] }] : []
}

/** Makes the parameters of a request, for streaming and for a whole answer alike. */
export function buildRequest(
  model: string,
  contents: readonly Content[],
  systemInstruction: string | Content | undefined,
  tools: readonly Tool[],
): GenerateContentParameters {
  return {
    model,
    contents: [...contents],
    config: {
      ...(systemInstruction !== undefined && systemInstruction !== '' && { systemInstruction }),
      ...(tools.length > 0 && { tools: [...tools] }),
    },
  }
}

/** Makes the headers of a request, with whichever credentials there are. */
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
