import { isObject, type JsonObject } from '../model/json.ts'

/** A schema of any library that follows the Standard Schema, with its JSON Schema extension. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> }
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (isObject(value) || typeof value === 'function') && isObject((value as Record<string, unknown>)['~standard'])
}

/** The JSON Schema of a schema. Throws if its library does not provide one. */
export function toJsonSchema(schema: StandardSchema | JsonObject): JsonObject {
  if (!isStandardSchema(schema)) return schema
  const { vendor, jsonSchema } = schema['~standard']
  if (!jsonSchema) {
    throw new Error(
      `${vendor} does not offer JSON Schema through the Standard Schema interface; use plain JSON Schema for the tool instead`,
    )
  }
  return jsonSchema.input({ target: 'draft-2020-12' }) as JsonObject
}

/** The parsed value; throws an error that lists all issues. */
export async function parseWithSchema<Output>(schema: StandardSchema<Output>, value: unknown): Promise<Output> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  throw new Error(
    result.issues
      .map(({ message, path }) => (path ? `${path.map(formatPathKey).join('.')}: ${message}` : message))
      .join('; '),
  )
}

function formatPathKey(key: unknown): string {
  return String(isObject(key) && 'key' in key ? key['key'] : key)
}
