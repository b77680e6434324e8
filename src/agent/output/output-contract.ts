import { isObject, type Json } from '../../model/json.ts'
import type { OutputFormat } from '../../model/request.ts'
import { validateOrCoerce } from '../../schema/coerce/coerce-arguments.ts'
import { isStandardSchema, parseWithSchema, toJsonSchema } from '../../tool/standard-schema.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import type { OutputSpec } from './output-spec.ts'
import { parseJsonAnswer } from './parse-json-answer.ts'
import { isObjectSchema, unwrapValue, wrapSchema, wrapValue } from './wrap-schema.ts'

/** A valid answer, or what is wrong with it, in words for the model. */
export type OutputCheck = { readonly value: unknown } | { readonly problem: string }

/** An output spec, ready for use. */
export interface OutputContract {
  /** What is sent to the model; the same object for the same spec. */
  readonly format: OutputFormat
  /** Parses and validates an answer of the model. */
  check(text: string): Promise<OutputCheck>
  /** The part of an incomplete answer that is the value, if there is one yet. */
  toPartial(value: Json): Json | undefined
}

/** The same spec gives the same contract. Throws if the schema's library offers no JSON Schema. */
export function createOutputContract(spec: OutputSpec): OutputContract {
  const contract = contracts.get(spec) ?? buildContract(spec)
  contracts.set(spec, contract)
  return contract
}

const contracts = new WeakMap<OutputSpec, OutputContract>()

function buildContract({ schema, name = 'answer' }: OutputSpec): OutputContract {
  const original = toJsonSchema(schema)
  const isWrapped = !isObjectSchema(original)
  const format: OutputFormat = { name, schema: isWrapped ? wrapSchema(original) : original }

  /** Coercion also undoes what a vendor's dialect adds, such as null for an absent property. */
  async function validateValue(candidate: Json): Promise<OutputCheck> {
    const answer = isWrapped ? wrapValue(candidate) : candidate
    const coerced = validateOrCoerce(format.schema, answer)
    const sound = coerced.ok ? coerced.value : answer
    const value = isWrapped && isObject(sound) ? unwrapValue(sound) : sound
    if (!isStandardSchema(schema)) return coerced.ok ? { value } : { problem: formatProblems(coerced.errors) }
    try {
      return { value: await parseWithSchema(schema, value) }
    } catch (error) {
      return { problem: getErrorMessage(error) }
    }
  }

  return {
    format,
    async check(text) {
      const answer = parseJsonAnswer(text, isWrapped ? 'any' : 'object')
      if ('problem' in answer) return answer
      return validateValue(answer.value)
    },
    toPartial(value) {
      if (!isWrapped) return isObject(value) ? value : undefined
      if (Array.isArray(value)) return value
      return isObject(value) && Object.keys(value).length <= 1 ? unwrapValue(value) : undefined
    },
  }
}

function formatProblems(errors: readonly { readonly path: string; readonly message: string }[]): string {
  return errors.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ')
}
