import { defined } from '../../model/defined.ts'
import { type JsonObject, tryParseJson, isObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { CallPart } from '../../model/turn.ts'
import { getNameInNamespace } from '../../schema/dialect/declare-tools.ts'
import { addIdPrefix, getFreeformText, getNativeData, getVendorCallId } from '../response-writer.ts'
import { readResponsesTools } from './read-request.ts'
import { isToolSearchSpec } from '../late-tools.ts'

/** How the calls of a response are written: as the client declared its tools, whoever made the call. */
export interface CallItemWriter {
  /** The item of a call that has just begun. */
  createEmpty(itemId: string, name: string, callId: string): JsonObject
  createWhole(itemId: string, call: CallPart): JsonObject
  /** Can the arguments be sent while they are received? */
  canStream(name: string): boolean
}

export function createCallItemWriter(request: JsonObject): CallItemWriter {
  let tools: Map<string, ToolSpec> | undefined
  const findTool = (name: string) => {
    tools ??= new Map(readResponsesTools(request).map((tool) => [tool.name, tool]))
    return tools.get(name)
  }
  return {
    createEmpty: (id, name, callId) =>
      createItem(findTool(name), { id, name, callId, status: 'in_progress', text: '', args: {} }),
    createWhole(id, call) {
      const tool = findTool(call.name)
      const status = call.flaw?.code === 'unfinished' ? 'incomplete' : 'completed'
      const text = tool?.freeform === true || (!tool && call.freeform) ? getFreeformText(call) : call.raw
      const item = createItem(tool, {
        id,
        name: call.name,
        callId: getVendorCallId(call),
        status,
        text,
        args: parse(call),
      })
      const { namespace, caller, async, response } = getNativeData(call, 'openai-responses')
      if (!tool && typeof namespace === 'string') {
        item['namespace'] = namespace
        item['name'] = getNameInNamespace({ name: call.name, namespace: { name: namespace } })
      }
      if (!tool && call.freeform) Object.assign(item, createTextFields(text))
      return { ...item, ...defined({ caller, async }), ...(isObject(response) && response) }
    },
    canStream: (name) => {
      const tool = findTool(name)
      return !tool || !(tool.freeform === true || isToolSearchSpec(tool))
    },
  }
}

interface CallFields {
  readonly id: string
  readonly name: string
  readonly callId: string
  readonly status: string
  readonly text: string
  readonly args: JsonObject
}

function createItem(tool: ToolSpec | undefined, { id, name, callId, status, text, args }: CallFields): JsonObject {
  const shared = { id, type: 'function_call', status, call_id: addIdPrefix('call_', callId) }
  if (tool && isToolSearchSpec(tool))
    return { ...shared, type: 'tool_search_call', execution: 'client', arguments: args }
  const names = tool?.namespace
    ? { name: getNameInNamespace(tool), namespace: tool.namespace.name }
    : { name: tool?.name ?? name }
  return { ...shared, ...names, ...(tool?.freeform ? createTextFields(text) : { arguments: text }) }
}

function createTextFields(input: string): JsonObject {
  return { type: 'custom_tool_call', input }
}

function parse({ input, raw }: CallPart): JsonObject {
  const parsed = input ?? tryParseJson(raw)
  return isObject(parsed) ? (parsed as JsonObject) : {}
}
