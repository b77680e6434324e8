/** Gemini CLI allows comments in JSON. Strings are kept as they are. */
export function removeComments(text: string): string {
  return text.replace(
    /("(?:[^"\\]+|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g,
    (_all, quoted: string | undefined) => quoted ?? '',
  )
}
