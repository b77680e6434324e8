import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { HostedTool, ToolGrammar, ToolNamespace, ToolSpec } from '../../model/request.ts'
import { NAMESPACE_SEPARATOR } from '../../schema/dialect/declare-tools.ts'
import { createFreeformSchema } from '../../schema/freeform-schema.ts'
import {
  createNativeDataFromRequest,
  pickOtherFields,
  readToolSchema,
  warnAboutFields,
  warnAboutUnknown,
} from '../read-parts.ts'
import type { JsonFields } from './output-item.ts'
import { TOOL_SEARCH } from '../late-tools.ts'

const WIRE_ID = 'openai-responses'

/** Reads the lists of tools of one request: a tool has the same name in all of them. */
export interface ToolReader {
  /** Tools that the client runs. The others are added to `hosted`. */
  read(list: unknown): ToolSpec[]
  readonly hosted: readonly HostedTool[]
  /** The name of the tool that a call, result or choice names. */
  toToolName(namespace: unknown, name: string): string
  /** The name of the tool by which the client searches for tools. */
  readonly searchToolName: string
}

export function createToolReader(warnings: Warning[]): ToolReader {
  const hosted: HostedTool[] = []
  /** By namespace and name; `taken` are the names in use. */
  const names = new Map<string, string>()
  const taken = new Set<string>()

  function getName(key: string, name: string): string {
    const known = names.get(key)
    if (known !== undefined) return known
    let free = name
    for (let count = 2; taken.has(free); count++) free = `${name}_${count}`
    taken.add(free)
    names.set(key, free)
    return free
  }

  function toToolName(namespace: unknown, name: string): string {
    const group = nonBlankString(namespace)
    if (group !== undefined) return getName(toKey(group, name), `${group}${NAMESPACE_SEPARATOR}${name}`)
    return getName(toKey('', name), name)
  }

  function readTool(fields: JsonFields, namespace?: ToolNamespace): ToolSpec[] {
    const name = stringOrEmpty(fields['name'])
    const description = stringOrEmpty(fields['description'])
    const readShared = () => {
      const toolName = toToolName(namespace?.name, name)
      const deferred = fields['defer_loading'] === true ? true : undefined
      const group = namespace && addNameInNamespace(namespace, toolName, name)
      return { name: toolName, description, ...defined({ deferred, namespace: group }) }
    }
    switch (fields['type']) {
      case undefined:
      case 'function': {
        if (name === '') break
        const schema = readToolSchema(fields['parameters'])
        // `strict` is always sent; only true says more than our own declaration.
        const native = keepFields(fields, `${TOOL_FIELDS} parameters${fields['strict'] === true ? '' : ' strict'}`)
        return [{ ...readShared(), schema, ...defined({ native }) }]
      }
      case 'custom': {
        const grammar = readGrammar(fields['format'])
        const isPlain = grammar !== undefined || objectOrEmpty(fields['format'])['type'] === 'text'
        const native = keepFields(fields, isPlain ? `${TOOL_FIELDS} format` : TOOL_FIELDS)
        const spec = { ...readShared(), schema: createFreeformSchema(grammar), freeform: true }
        return [{ ...spec, ...defined({ grammar, native }) }]
      }
      case 'namespace': {
        if (namespace) break
        const inner = { name, ...(description !== '' && { description }) }
        warnAboutFields(pickOtherFields(fields, 'type name description tools'), `the namespace ${name}`, warnings)
        return readList(fields['tools'], inner)
      }
      case TOOL_SEARCH:
        if (namespace || fields['execution'] !== 'client') break
        return [
          {
            name: getName(SEARCH_KEY, TOOL_SEARCH),
            description,
            schema: readToolSchema(fields['parameters']),
            native: createNativeDataFromRequest(
              WIRE_ID,
              undefined,
              pickOtherFields(fields, 'name description parameters'),
            ),
          },
        ]
      default:
    }
    if (namespace) warnAboutUnknown(`A tool of the namespace ${namespace.name}`, fields, warnings)
    else hosted.push({ wire: WIRE_ID, declaration: fields as JsonObject })
    return []
  }

  function readList(list: unknown, namespace?: ToolNamespace): ToolSpec[] {
    if (!Array.isArray(list)) return []
    return list.flatMap((fields: unknown) => {
      if (isObject(fields)) return readTool(fields, namespace)
      warnAboutUnknown('A tool that is not an object', fields, warnings)
      return []
    })
  }

  return {
    read: (list) => readList(list),
    hosted,
    toToolName,
    get searchToolName() {
      return getName(SEARCH_KEY, TOOL_SEARCH)
    },
  }
}

const TOOL_FIELDS = 'type name description defer_loading'

/** Not the key of a tool with a name. */
const SEARCH_KEY = TOOL_SEARCH

function toKey(namespace: string, name: string): string {
  return JSON.stringify([namespace, name])
}

/** The name in the namespace is kept if it cannot be seen from the name of the tool. */
function addNameInNamespace(namespace: ToolNamespace, toolName: string, name: string): ToolNamespace {
  return toolName === `${namespace.name}${NAMESPACE_SEPARATOR}${name}` ? namespace : { ...namespace, tool: name }
}

function keepFields(fields: JsonFields, known: string) {
  const others = pickOtherFields(fields, known)
  return others && createNativeDataFromRequest(WIRE_ID, undefined, others)
}

/** A grammar in exactly the form in which it is declared again. */
function readGrammar(format: unknown): ToolGrammar | undefined {
  const { type, syntax, definition, ...more } = objectOrEmpty(format)
  if (type !== 'grammar' || typeof definition !== 'string' || Object.keys(more).length > 0) return undefined
  return syntax === 'lark' || syntax === 'regex' ? { syntax, definition } : undefined
}
