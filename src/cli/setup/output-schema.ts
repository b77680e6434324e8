import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OutputSpec } from '../../agent/output/output-spec.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { isObject, type JsonObject, tryParseJson } from '../../model/json.ts'
import { compileSchema } from '../../schema/validate/compile-schema.ts'
import { UserError } from '../user-error.ts'

/** The schema of `--json-schema`: a file, or the JSON itself. Every problem is an error: a wrong schema checks nothing. */
export function loadOutputSpec(option: string | undefined): OutputSpec | undefined {
  if (option === undefined) return undefined
  const isInline = option.trimStart().startsWith('{')
  const name = isInline ? 'the JSON schema' : `the JSON schema ${resolve(option)}`
  const schema = tryParseJson(isInline ? option : readSchemaFile(option, name))
  if (schema === undefined) throw new UserError(`${name} is not JSON`)
  if (!isObject(schema)) throw new UserError(`${name} must be a JSON object`)
  const [problem] = compileSchema(schema as JsonObject).warnings
  if (problem !== undefined) throw new UserError(`${name} cannot be used: ${problem}`)
  return { schema: schema as JsonObject }
}

/** The user named this file: it may be anything, also a pipe. */
function readSchemaFile(path: string, name: string): string {
  try {
    return readFileSync(resolve(path), 'utf8')
  } catch (error) {
    throw new UserError(`${name} cannot be read: ${getErrorMessage(error)}`)
  }
}
