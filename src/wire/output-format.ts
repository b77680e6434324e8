import { isObject, type JsonObject } from '../model/json.ts'
import type { ModelRequest, OutputFormat } from '../model/request.ts'
import { declareOutput, type DeclaredOutput } from '../schema/dialect/declare-output.ts'
import type { EncodeContext } from './history/transcript.ts'

/** How an answer of a given schema is asked for: by the vendor's response format, by its JSON mode, or only by words. */
export type OutputRequest =
  | ({ readonly kind: 'schema'; readonly name: string } & DeclaredOutput)
  | { readonly kind: 'object' }
  | { readonly kind: 'words' }

/** Undefined if the request asks for plain text. */
export function chooseOutputRequest(
  { output }: ModelRequest,
  { profile, canCall }: Pick<EncodeContext, 'profile' | 'canCall'>,
): OutputRequest | undefined {
  if (!output) return undefined
  // A server that forces JSON keeps the model from making calls, unless it says that it does not.
  const isBlocked = canCall && (!profile.outputWithTools || profile.tools === 'text')
  if (isBlocked || profile.outputFormat === 'none') return { kind: 'words' }
  if (profile.outputFormat === 'object') return { kind: 'object' }
  const declared = declareOutput(output.schema, profile.dialect)
  return declared ? { kind: 'schema', name: toFormatName(output.name), ...declared } : { kind: 'words' }
}

/** For the system prompt: what the answer must be, unless the vendor enforces it. */
export function describeOutput(request: ModelRequest, context: EncodeContext): string {
  const asked = chooseOutputRequest(request, context)
  if (!request.output || !asked || asked.kind === 'schema') return ''
  return `${OUTPUT_INSTRUCTION}\n${JSON.stringify(request.output.schema)}`
}

const OUTPUT_INSTRUCTION =
  'When the task is done, your last message must be one JSON object and nothing else: no explanation and no code fence. The JSON object must be valid against this JSON Schema:'

/** Vendors accept letters, digits, underscores and hyphens. */
function toFormatName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'answer'
}

/** The format that a request body has, for reading it back. */
export function readOutputFormat(name: unknown, schema: unknown): { readonly output?: OutputFormat } {
  if (!isObject(schema)) return {}
  return { output: { name: typeof name === 'string' && name !== '' ? name : 'answer', schema: schema as JsonObject } }
}

/** The fields of a response format that OpenAI's wires have in common, though in different places. */
export function encodeOpenAiFormat(asked: OutputRequest | undefined):
  | {
      readonly type: 'json_schema' | 'json_object'
      readonly details?: { readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
    }
  | undefined {
  if (!asked || asked.kind === 'words') return undefined
  if (asked.kind === 'object') return { type: 'json_object' }
  const { name, schema, strict } = asked
  return { type: 'json_schema', details: { name, schema, strict } }
}
