import { isObject, type JsonObject } from '../../../model/json.ts'
import type { McpConnection, McpRequestOptions } from '../connection/connect.ts'
import { withRequestDeadline } from '../connection/request-deadline.ts'

export interface CallableTool {
  readonly name: string
  readonly schema: JsonObject
  /** It can only be called as an MCP task. */
  readonly isTask?: boolean
}

export async function callServerTool(
  connection: McpConnection,
  tool: CallableTool,
  input: JsonObject,
  limits: McpRequestOptions = {},
): Promise<unknown> {
  const params = { name: tool.name, arguments: input }
  const { serverInfo } = connection
  const request = connection.request.bind(connection)
  if (serverInfo.isLegacy)
    return tool.isTask ? callAsTask(connection, params, limits) : request('tools/call', params, limits)
  // In the newer protocol a tool may take arguments in headers; the SDK supports that.
  if (!JSON.stringify(tool.schema).includes('"x-mcp-header"')) return request('tools/call', params, limits)
  const toolDefinition = { name: tool.name, inputSchema: { ...tool.schema, type: 'object' as const } }
  return withRequestDeadline(limits, ({ timeout, signal }) =>
    connection.client.callTool(params, { toolDefinition, timeout, signal }),
  )
}

/** Starts a task and waits for its result; a cancelled wait cancels the task. */
async function callAsTask(connection: McpConnection, params: JsonObject, limits: McpRequestOptions): Promise<unknown> {
  const { task, ...rest } = await connection.request(
    'tools/call',
    { ...params, task: { ttl: limits.timeout ?? DEFAULT_TASK_TTL_MS } },
    limits,
  )
  const taskId = isObject(task) ? task['taskId'] : undefined
  // The server may return the result at once.
  if (typeof taskId !== 'string') return rest
  try {
    return await connection.request('tasks/result', { taskId }, limits)
  } catch (error) {
    connection.request('tasks/cancel', { taskId }, { timeout: 5000 }).catch(() => undefined)
    throw error
  }
}

const DEFAULT_TASK_TTL_MS = 600_000
