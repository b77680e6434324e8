import { HostError, type HostErrorCode } from '../../../host/host-error.ts'
import type { JsonObject } from '../../../model/json.ts'
import { createErrorOutput } from '../../error-output.ts'
import type { Tool, ToolNameAlias } from '../../tool.ts'

export interface BuiltinDefinition extends Omit<Tool, 'spec' | 'origin'> {
  readonly name: string
  readonly text: string
  readonly properties: JsonObject
  readonly required: readonly string[]
}

/** A tool that returns an error result for invalid arguments and for host errors. */
export function defineBuiltin({ name, text, properties, required, ...rest }: BuiltinDefinition): Tool {
  return {
    ...rest,
    origin: 'native',
    spec: { name, description: text.trim(), schema: { type: 'object', properties, required: [...required] } },
    async run(input, context) {
      const problem = rest.check?.(input, context.folders)
      if (problem !== undefined) return createErrorOutput(problem, 'invalid-arguments')
      try {
        return await rest.run(input, context)
      } catch (error) {
        if (error instanceof HostError) return createErrorOutput(error.message, ERROR_TYPES[error.code] ?? error.code)
        throw error
      }
    },
  }
}

/** Names that other agents have for the same tool with the same parameters. */
export function createSameToolAliases(...names: readonly string[]): ToolNameAlias[] {
  return names.map((name) => ({ name, parameters: {} }))
}

/** Names that mean a similar tool elsewhere: a call is refused, and the model is told which tool to call. */
export function createSimilarToolAliases(...names: readonly string[]): ToolNameAlias[] {
  return names.map((name) => ({ name }))
}

const ERROR_TYPES: Partial<Record<HostErrorCode, string>> = {
  outside: 'path-not-in-workspace',
  'not-found': 'file-not-found',
  'is-folder': 'target-is-directory',
  'not-folder': 'path-is-not-a-directory',
  'not-file': 'not-an-ordinary-file',
  'no-permission': 'permission-denied',
  'no-space': 'no-space-left',
  'too-large': 'file-too-large',
  failed: 'host-failed',
}
