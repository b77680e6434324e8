import type { JsonObject } from '../../model/json.ts'
import type { StandardSchema } from '../../tool/standard-schema.ts'

/** The answer that a run must end with: a value that fits a schema. */
export interface OutputSpec {
  /** JSON Schema, or a schema of any library that follows the Standard Schema; then the result is its parsed value. */
  readonly schema: JsonObject | StandardSchema
  /** What the answer is, in a word; some vendors show it to the model. The default is `answer`. */
  readonly name?: string
}
