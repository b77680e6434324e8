import { isObject, type JsonObject } from '../../../model/json.ts'
import type { Connection, McpRequestOptions } from '../connection/connect.ts'
import { withRequestDeadline } from '../connection/request-deadline.ts'

/** What must be known of a tool to call it: the name that the server knows, and how it wants to be called. */
export interface CallableTool {
  readonly name: string
  readonly schema: JsonObject
  /** It can only be called as a task that goes on by itself. */
  readonly isTask?: boolean
}

/** Calls a tool, in the way that it wants to be called. */
export async function callServerTool(
  connection: Connection,
  tool: CallableTool,
  input: JsonObject,
  limits: McpRequestOptions = {},
): Promise<unknown> {
  const params = { name: tool.name, arguments: input }
  const { serverInfo } = connection
  const request = connection.request.bind(connection)
  if (serverInfo.isLegacy)
    return tool.isTask ? callAsTask(connection, params, limits) : request('tools/call', params, limits)
  // On the newer protocol a tool may want some of its arguments in headers; the SDK knows how.
  if (!JSON.stringify(tool.schema).includes('"x-mcp-header"')) return request('tools/call', params, limits)
  const toolDefinition = { name: tool.name, inputSchema: { ...tool.schema, type: 'object' as const } }
  return withRequestDeadline(limits, ({ timeout, signal }) =>
    connection.client.callTool(params, { toolDefinition, timeout, signal }),
  )
}

/** Starts a task and waits for its result; whoever does not want to wait any longer ends it. */
async function callAsTask(connection: Connection, params: JsonObject, limits: McpRequestOptions): Promise<unknown> {
  const { task, ...rest } = await connection.request(
    'tools/call',
    { ...params, task: { ttl: limits.timeout ?? DEFAULT_TASK_TTL_MS } },
    limits,
  )
  const taskId = isObject(task) ? task['taskId'] : undefined
  // A server that did it at once has given the result itself.
  if (typeof taskId !== 'string') return rest
  try {
    return await connection.request('tasks/result', { taskId }, limits)
  } catch (error) {
    connection.request('tasks/cancel', { taskId }, { timeout: 5000 }).catch(() => undefined)
    throw error
  }
}

const DEFAULT_TASK_TTL_MS = 600_000
