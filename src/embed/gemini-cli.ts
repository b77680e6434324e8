/** The helpers of a host that speaks Gemini natively, such as Gemini CLI, by the names it knows. */
export {
  convertToFunctionResponse,
  dataUrl,
  functionResponsePart,
  wrapToolResult,
  type FunctionResponseOptions,
} from './gemini-cli/function-response.ts'
export {
  getStringifiedResultForDisplay,
  transformMcpContentToParts,
  type McpContentBlock,
} from './gemini-cli/mcp-content.ts'
export { buildRequest, headers, toolsForModel } from './gemini-cli/request.ts'
export { formatShellResult, type ShellResult } from './gemini-cli/shell-result.ts'
export { hasCycleInSchema } from '../schema/cycle.ts'
export { hasValidTypes } from '../schema/has-valid-types.ts'
export { generateValidName, generateValidName as sanitizeToolName } from '../schema/names.ts'
export { fullyQualified } from '../tool/mcp/names.ts'
