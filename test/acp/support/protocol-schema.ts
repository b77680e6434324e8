import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { root } from '../../support/paths.ts'

interface Definition {
  readonly 'x-method'?: string
  readonly 'x-side'?: 'agent' | 'client' | 'protocol'
}

const path = join(root, 'node_modules/@agentclientprotocol/sdk/schema/v1/schema.json')
const { $defs } = JSON.parse(readFileSync(path, 'utf8')) as { $defs: Record<string, Definition> }
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
;(formats as unknown as (instance: Ajv2020) => void)(ajv)
for (const format of ['uint16', 'uint32', 'uint64', 'int64', 'double']) ajv.addFormat(format, true)
ajv.addSchema({ $id: 'acp', $defs })
const compiled = new Map<string, ValidateFunction>()

function validatorOf(name: string): ValidateFunction {
  const known = compiled.get(name)
  if (known) return known
  const made = ajv.compile({ $ref: `acp#/$defs/${name}` })
  compiled.set(name, made)
  return made
}

type Kind = 'Request' | 'Response' | 'Notification'

function definitionOf(method: string, kind: Kind): string | undefined {
  return Object.entries($defs).find(([name, one]) => one['x-method'] === method && name.endsWith(kind))?.[0]
}

type Message = Readonly<Record<string, unknown>>

/** Checks the messages of one connection, in both directions, against the protocol's JSON Schema. */
export function createSchemaCheck() {
  const problems: string[] = []
  /** The methods of the requests of each side, by id, for their responses. */
  const requests = { client: new Map<unknown, string>(), agent: new Map<unknown, string>() }
  const methods = new Set<string>()
  const errors: unknown[] = []

  function check(name: string | undefined, value: unknown, what: string): void {
    if (name === undefined) return void problems.push(`${what}: the schema has no definition`)
    const validate = validatorOf(name)
    if (!validate(value)) problems.push(`${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`)
  }

  return {
    problems,
    /** The answers that were errors. */
    errors,
    /** The methods that were seen, those of updates and of contents with their kind. */
    methods,
    onMessage(from: 'client' | 'agent', message: Message): void {
      const { id, method, params, result, error, jsonrpc } = message
      if (jsonrpc !== '2.0') problems.push(`${from}: jsonrpc is ${String(jsonrpc)}`)
      if (typeof method === 'string') {
        methods.add(`${from} ${method}`)
        const { update } = (params ?? {}) as { update?: { sessionUpdate?: string } }
        if (update?.sessionUpdate !== undefined) methods.add(`update ${update.sessionUpdate}`)
        if (id !== undefined) requests[from].set(id, method)
        // Only tests send methods of no protocol.
        if (method.startsWith('_')) return
        return check(definitionOf(method, id === undefined ? 'Notification' : 'Request'), params, `${from} ${method}`)
      }
      const asked = requests[from === 'client' ? 'agent' : 'client'].get(id)
      if (error !== undefined) {
        errors.push(error)
        return check('Error', error, `${from} error`)
      }
      if (asked === undefined) return void problems.push(`${from}: a response to nothing: ${JSON.stringify(message)}`)
      check(definitionOf(asked, 'Response'), result, `${from} response to ${asked}`)
    },
  }
}
