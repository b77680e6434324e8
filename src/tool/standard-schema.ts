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
  | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  return (isObject(value) || typeof value === 'function') && isObject((value as Record<string, unknown>)['~standard'])
}

/** The JSON Schema of a schema. Throws if its library does not provide one. */
export function toJsonSchema(schema: StandardSchema | Readonly<Record<string, unknown>>): JsonObject {
  if (!isStandardSchema(schema)) return schema as JsonObject
  const { vendor, jsonSchema } = schema['~standard']
  if (!jsonSchema) {
    const advice =
      vendor === 'valibot'
        ? 'wrap it with toStandardJsonSchema of @valibot/to-json-schema'
        : 'use plain JSON Schema instead'
    throw new Error(
      `This schema of ${vendor} does not offer JSON Schema through the Standard Schema interface; ${advice}.`,
    )
  }
  return jsonSchema.input({ target: 'draft-2020-12' }) as JsonObject
}

/** The parsed value; throws an error that lists all issues. */
export async function parseWithSchema<Output>(schema: StandardSchema<Output>, value: unknown): Promise<Output> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  throw new Error(formatIssues(result.issues))
}

/** The parsed value, or what is wrong with it; undefined if the schema can only be checked asynchronously. */
export function tryParseSync<Output>(
  schema: StandardSchema<Output>,
  value: unknown,
): { readonly value: Output } | { readonly problem: string } | undefined {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) {
    result.catch(() => undefined)
    return undefined
  }
  return result.issues ? { problem: formatIssues(result.issues) } : { value: result.value }
}

function formatIssues(issues: readonly Issue[]): string {
  return issues
    .map(({ message, path }) => (path ? `${path.map(formatPathKey).join('.')}: ${message}` : message))
    .join('; ')
}

function formatPathKey(key: unknown): string {
  return String(isObject(key) && 'key' in key ? key['key'] : key)
}
