import { isObject, type JsonObject } from '../../model/json.ts'
import type { Connection, RequestLimits } from './connect.ts'
import { withDeadline } from './deadline.ts'

/** What must be known of a tool to call it: the name that the server knows, and how it wants to be called. */
export interface Callable {
  readonly name: string
  readonly schema: JsonObject
  /** It can only be called as a task that goes on by itself. */
  readonly isTask?: boolean
}

/** Calls a tool, in the way that it wants to be called. */
export async function callTool(
  connection: Connection,
  tool: Callable,
  input: JsonObject,
  limits: RequestLimits = {},
): Promise<unknown> {
  const params = { name: tool.name, arguments: input }
  const { about } = connection
  const request = connection.request.bind(connection)
  if (about.isOld) return tool.isTask ? callTask(connection, params, limits) : request('tools/call', params, limits)
  // On the newer protocol a tool may want some of its arguments in headers; the SDK knows how.
  if (!JSON.stringify(tool.schema).includes('"x-mcp-header"')) return request('tools/call', params, limits)
  const toolDefinition = { name: tool.name, inputSchema: { ...tool.schema, type: 'object' as const } }
  return withDeadline(limits, ({ timeout, signal }) =>
    connection.client.callTool(params, { toolDefinition, timeout, signal }),
  )
}

/** Starts a task and waits for its result; whoever does not want to wait any longer ends it. */
async function callTask(connection: Connection, params: JsonObject, limits: RequestLimits): Promise<unknown> {
  const { task, ...rest } = await connection.request(
    'tools/call',
    { ...params, task: { ttl: limits.timeout ?? TTL } },
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

const TTL = 600_000
