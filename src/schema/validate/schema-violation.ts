import type { Json } from '../../model/json.ts'

/** A rule of a schema that a value breaks, as data; `describeViolation` makes the words. */
export type SchemaViolation = ViolationDetail & {
  /** JSON pointer to the part of the value concerned; empty for the whole value. */
  readonly path: string
  readonly keyword: string
}

export type ViolationDetail =
  | { readonly kind: 'type'; readonly allowed: readonly Json[]; readonly value: Json | undefined }
  | { readonly kind: 'enum'; readonly allowed: readonly Json[]; readonly value: Json | undefined }
  | { readonly kind: 'missing-property'; readonly property: string }
  /** `property` is present, so `required` has to be present too. */
  | { readonly kind: 'missing-dependency'; readonly property: string; readonly required: string }
  | { readonly kind: 'unknown-property'; readonly known: readonly string[] }
  /** No branch of a union accepts the value. References are resolved. */
  | { readonly kind: 'no-branch'; readonly branches: readonly (Json | undefined)[]; readonly value: Json | undefined }
  | { readonly kind: 'several-branches' }
  /** Any other keyword, with its value in the schema. */
  | { readonly kind: 'keyword'; readonly rule: Json | undefined }
  /** The value is too large or too deeply nested for the validator. */
  | { readonly kind: 'unchecked' }
  /** The value cannot be written as JSON. */
  | { readonly kind: 'not-json'; readonly reason: 'missing' | 'not-finite' | 'too-deep' | 'no-json-type' }

/** A violation with its one sentence, written for the model that made the value. */
export type ValidationError = SchemaViolation & { readonly message: string }

/** The keyword of the error for a value that is too large or too deep for the validator. */
export const TOO_DEEP_ERROR_KEYWORD = 'depth'
