import { isObject, type JsonObject } from '../../../model/json.ts'
import type { IgnoreOptions } from '../../file-search/ignore-rules.ts'

export function getTextArgument(input: JsonObject, key: string): string {
  const value = input[key]
  return typeof value === 'string' ? value : ''
}

export function getOptionalTextArgument(input: JsonObject, key: string): string | undefined {
  const text = getTextArgument(input, key)
  return text.trim() === '' ? undefined : text
}

/** Also accepts a number that was written as text. */
export function getNumberArgument(input: JsonObject, key: string): number | undefined {
  const value = input[key]
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

export function getFlagArgument(input: JsonObject, key: string, fallback: boolean): boolean {
  const value = input[key]
  if (value === 'true' || value === 'false') return value === 'true'
  return typeof value === 'boolean' ? value : fallback
}

export function getStringListArgument(input: JsonObject, key: string): string[] {
  const value = input[key]
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** Which ignore files count; all of them, unless the options say otherwise. */
export function getIgnoreOptions(input: JsonObject, options = input['file_filtering_options']): IgnoreOptions {
  const fields: JsonObject = isObject(options) ? options : {}
  return {
    git: getFlagArgument(fields, 'respect_git_ignore', true),
    gemini: getFlagArgument(fields, 'respect_gemini_ignore', true),
  }
}

export const FILTER_OPTIONS_SCHEMA: JsonObject = {
  type: 'object',
  properties: { respect_git_ignore: { type: 'boolean' }, respect_gemini_ignore: { type: 'boolean' } },
}
