import { isObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'

/** The type of the tool that searches for deferred tools. */
export const TOOL_SEARCH = 'tool_search'

/** Is this the tool by which the client searches for tools? One that the server runs is a hosted tool. */
export function isToolSearchSpec({ native }: Pick<ToolSpec, 'native'>): boolean {
  return native?.wire === 'openai-responses' && isObject(native.data) && native.data['type'] === TOOL_SEARCH
}
