import type { JsonObject } from '../../../model/json.ts'

export const FILTER_OPTIONS_SCHEMA: JsonObject = {
  type: 'object',
  properties: { respect_git_ignore: { type: 'boolean' }, respect_gemini_ignore: { type: 'boolean' } },
}
