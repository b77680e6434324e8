import type { JsonObject } from '../../../model/json.ts'
import { clipText } from '../../../model/text.ts'
import { createErrorOutput } from '../../error-output.ts'
import type { Tool, ToolContext, ToolOutput } from '../../tool.ts'
import { McpRequestError } from '../connection/request-error.ts'
import { getServerIdentity } from '../client/server-config.ts'
import { toMcpToolOutput, cleanContentText } from './tool-content.ts'
import type { RemoteTool } from './filter-tools.ts'
import { toServerName } from './tool-names.ts'
import type { ToolPins } from './tool-pins.ts'
import type { McpServer } from '../client/server.ts'
import { defined } from '../../../model/defined.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** The model sees `name`; the server gets its own. */
export function adaptRemoteTool(server: McpServer, remote: RemoteTool, name: string, pins: ToolPins): Tool {
  const { config } = server
  const trusted = config.trust === true
  const identity = getServerIdentity(config)
  const timeout = config.timeout ?? DEFAULT_CALL_TIMEOUT_MS
  const findPinDifference = (): string | undefined =>
    trusted ? undefined : pins.diffFromApproved(server.name, remote, identity)

  return {
    spec: { name, description: remote.description, schema: remote.schema },
    kind: 'other',
    origin: 'mcp',
    // As with its other annotations: only the word of a trusted server counts.
    ...(trusted && (remote.readOnly || remote.isIdempotent) && { safeToRetry: true }),
    effects() {
      // The annotations of a server count only if it is trusted.
      if (trusted && remote.readOnly) return []
      const changed = findPinDifference() !== undefined
      const toolIdentity = {
        server: toServerName(server.name),
        tool: remote.name,
        ...(trusted && { trusted }),
        ...(changed && { changed }),
      }
      return [{ kind: 'unknown', mcpTool: toolIdentity }]
    },
    preview(input) {
      const changes = findPinDifference()
      return Promise.resolve({
        kind: 'mcp',
        title: `Call ${remote.title} of the server ${server.name}`,
        serverName: server.name,
        toolName: remote.name,
        toolDisplayName: remote.title,
        input: JSON.stringify(input, undefined, 2),
        ...defined({ changes }),
      })
    },
    run(input, context) {
      pins.approve(server.name, remote, identity)
      return callRemoteTool(server, remote, input, context, timeout)
    },
  }
}

/** Ten minutes, as in other clients; the settings can change it. */
const DEFAULT_CALL_TIMEOUT_MS = 600_000

const LONGEST_MESSAGE = 4000

async function callRemoteTool(
  server: McpServer,
  remote: RemoteTool,
  input: JsonObject,
  { signal, progress }: ToolContext,
  timeout: number,
): Promise<ToolOutput> {
  try {
    const result = await server.call(remote, input, { signal, progress, timeout })
    return toMcpToolOutput(remote.name, result)
  } catch (error) {
    const message = clipText(cleanContentText(describeCallError(server, error, timeout)), LONGEST_MESSAGE)
    return createErrorOutput(message, 'mcp')
  }
}

function describeCallError({ name, state }: McpServer, error: unknown, timeout: number): string {
  if (!(error instanceof McpRequestError)) return `The MCP server ${name} reported an error: ${getErrorMessage(error)}`
  if (error.reason === 'unreachable') return error.message
  if (error.reason === 'timeout')
    return `The MCP server ${name} did not answer within ${timeout / 1000} s. ${UNKNOWN_EFFECT}`
  error.reason satisfies 'disconnected'
  const why = state.status === 'failed' ? state.why : error.message
  return `The MCP server ${name} disconnected during the call (${why}). ${UNKNOWN_EFFECT}`
}

const UNKNOWN_EFFECT = 'It is not known what the call did.'
