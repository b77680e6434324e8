import { type Json, tryParseJson } from '../../model/json.ts'
import { createRelaxedJsonParser } from '../../wire/json/relaxed-json.ts'

/** The JSON value of an answer, or why there is none, in words for the model. */
export type ParsedAnswer = { readonly value: Json } | { readonly problem: string }

/**
 * Finds the one JSON value of an answer. A code fence and text around it are accepted, but never two values: which of them
 * was meant would be a guess. `wanted` says what can be an answer at all, so that `[1]` in a sentence is none.
 */
export function parseJsonAnswer(text: string, wanted: 'object' | 'any'): ParsedAnswer {
  const trimmed = stripFence(text.trim())
  if (trimmed === '') return { problem: 'There is no answer; it must be a JSON value.' }
  const whole = parseValue(trimmed)
  if (whole !== undefined) return { value: whole }
  const found = findValues(trimmed, wanted === 'object' ? '{' : '{[')
  const [only] = found
  if (found.length === 1 && only !== undefined) return { value: only }
  return found.length === 0
    ? { problem: 'It contains no complete JSON value.' }
    : { problem: `It contains ${found.length} JSON values; only one is allowed.` }
}

/** The text inside a code fence that surrounds all of it. */
function stripFence(text: string): string {
  return /^```\w*[ \t]*\r?\n([^]*?)\r?\n?```$/.exec(text)?.[1]?.trim() ?? text
}

/** All objects or lists at the top level of a text, in one pass. */
function findValues(text: string, starts: string): Json[] {
  const values: Json[] = []
  let [depth, start, isInString] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (depth > 0 && char === '"') isInString = true
    else if (depth > 0 ? char === '{' || char === '[' : starts.includes(char)) {
      if (depth === 0) start = at
      depth++
    } else if (depth > 0 && (char === '}' || char === ']')) {
      depth--
      const value = depth === 0 ? parseValue(text.slice(start, at + 1)) : undefined
      if (value !== undefined) values.push(value)
    }
  }
  return values
}

/** Deviations from JSON that lose nothing are accepted, such as a trailing comma; cut text never is. */
function parseValue(text: string): Json | undefined {
  const exact = tryParseJson(text) as Json | undefined
  if (exact !== undefined || !/^[[{]/.test(text)) return exact
  const relaxed = createRelaxedJsonParser(text).parse(0)
  return relaxed.ok && relaxed.end === text.length ? relaxed.value : undefined
}
