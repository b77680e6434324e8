import type { JsonObject } from '../../../model/json.ts'

/** The schema of `file_filtering_options`, which several tools take. */
export const FILTER_OPTIONS_SCHEMA: JsonObject = {
  type: 'object',
  properties: { respect_git_ignore: { type: 'boolean' }, respect_gemini_ignore: { type: 'boolean' } },
}
