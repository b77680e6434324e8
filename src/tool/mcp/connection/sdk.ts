// The one place that knows the SDK; it is loaded when the first server is started, and never without one.
import {
  auth,
  Client,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker'

export {
  auth,
  CfWorkerJsonSchemaValidator,
  Client,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  UnauthorizedError,
}
export type {
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  FetchLike,
  JSONRPCMessage,
  OAuthClientProvider,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/client'
