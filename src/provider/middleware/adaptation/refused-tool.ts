import type { ToolSpec } from '../../../model/request.ts'
import { declareTools } from '../../../schema/dialect/declare-tools.ts'
import type { RequestRefusal } from './adaptation.ts'

/** The tool that a refusal names by its position (T145–T149): one bad tool must not cost the others. */
export function findRefusedToolByIndex(
  { message, param, profile }: RequestRefusal,
  tools: readonly ToolSpec[],
): string | undefined {
  const declared = declareTools(tools, profile.dialect).tools
  for (const pattern of TOOL_INDEX_PATTERNS) {
    const indices = pattern.exec(`${param} ${message}`)?.slice(1) ?? []
    const index = indices.find((digits) => digits !== undefined)
    const tool = index === undefined ? undefined : declared[Number(index)]
    if (tool) return tool.originalName
  }
  return undefined
}

export function findRefusedToolByName(
  { message, profile }: RequestRefusal,
  tools: readonly ToolSpec[],
): string | undefined {
  const declared = declareTools(tools, profile.dialect).tools
  const names = [...message.matchAll(TOOL_NAME_PATTERN)].map(([, name]) => name)
  return declared.find((tool) => names.includes(tool.name))?.originalName
}

/** Google counts inside one list of declarations; others count the tools. */
const TOOL_INDEX_PATTERNS = [
  /function_?declarations(?:\[(\d+)\]|\.(\d+)\b)/i,
  /\btools(?:\[(\d+)\]|\.(\d+)\b)(?!\.?function_?declarations)/i,
]

const TOOL_NAME_PATTERN = /\b(?:functions?|tools?|schema|name)\b[^'"`“]{0,30}['"`“]([\w.:-]{1,128})['"`”]/gi
