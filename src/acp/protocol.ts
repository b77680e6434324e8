/** The types of the Agent Client Protocol, version 1. Only types: at run time the SDK and its schemas are not loaded. */
export type {
  AgentCapabilities,
  AuthMethod,
  AvailableCommand,
  ClientCapabilities,
  ContentBlock,
  CreateElicitationRequest,
  CreateElicitationResponse,
  CreateTerminalRequest,
  CreateTerminalResponse,
  ElicitationSchema,
  InitializeRequest,
  InitializeResponse,
  ListSessionsResponse,
  LoadSessionResponse,
  McpServer,
  NewSessionRequest,
  NewSessionResponse,
  PermissionOption,
  PlanEntry,
  PromptResponse,
  ReadTextFileResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionConfigOption,
  SessionModeState,
  SessionNotification,
  SessionUpdate,
  StopReason,
  TerminalOutputResponse,
  ToolCallContent,
  ToolCallLocation,
  ToolCallUpdate,
  ToolKind,
  WaitForTerminalExitResponse,
} from '@agentclientprotocol/sdk'

export const PROTOCOL_VERSION = 1

/** The error codes of JSON-RPC and of the protocol. */
export const ERROR_CODE = {
  parse: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  cancelled: -32800,
  authRequired: -32000,
  notFound: -32002,
} as const

/** An error that is the answer to a request. */
export class ProtocolError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}
