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
export { hasCycleInSchema } from '../schema/normalize/detect-cycles.ts'
export { hasValidTypes } from '../schema/normalize/has-valid-types.ts'
export { generateValidName, generateValidName as sanitizeToolName } from '../schema/dialect/tool-names.ts'
export { qualifyToolName as fullyQualified } from '../tool/mcp/tools/tool-names.ts'
