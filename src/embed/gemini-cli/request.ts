import type { Content, FunctionDeclaration, GenerateContentParameters, Tool } from '@google/genai'

/** One tool object with all declarations, or none without declarations. */
export function toolsForModel(declarations: readonly FunctionDeclaration[]): Tool[] {
  return declarations.length > 0 ? [{ functionDeclarations: [...declarations] }] : []
}

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
