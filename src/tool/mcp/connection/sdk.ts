// The one place that knows the SDK; it is loaded when the first server is started, and never without one.
export {
  auth,
  Client,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  type JSONRPCMessage,
  type OAuthClientProvider,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  type StandardSchemaV1,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
export { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker'
