/** One thing that is wrong with a value. */
export interface ValidationError {
  /** JSON pointer to the part of the value concerned; empty for the whole. */
  path: string
  /** One sentence, written for the model that made the value. */
  message: string
  /** The keyword of the schema that was broken. */
  keyword: string
}
