import type { ToolSpec } from '../../model/request.ts'
import { project } from '../../schema/project.ts'
import type { Refusal } from './lesson.ts'

/** The tool whose place in the list a refusal names (T145–T149): one bad tool must not cost the others. */
export function toolByPlace({ words, param, profile }: Refusal, tools: readonly ToolSpec[]): string | undefined {
  const declared = project(tools, profile.dialect).tools
  for (const pattern of PLACES) {
    const places = pattern.exec(`${param} ${words}`)?.slice(1) ?? []
    const place = places.find((digits) => digits !== undefined)
    const tool = place === undefined ? undefined : declared[Number(place)]
    if (tool) return tool.original
  }
  return undefined
}

/** The tool that a refusal calls by its name. */
export function toolByName({ words, profile }: Refusal, tools: readonly ToolSpec[]): string | undefined {
  const declared = project(tools, profile.dialect).tools
  const names = [...words.matchAll(NAMED)].map(([, name]) => name)
  return declared.find((tool) => names.includes(tool.name))?.original
}

/** Google counts inside one list of declarations; the others count the tools. */
const PLACES = [
  /function_?declarations(?:\[(\d+)\]|\.(\d+)\b)/i,
  /\btools(?:\[(\d+)\]|\.(\d+)\b)(?!\.?function_?declarations)/i,
]

const NAMED = /\b(?:functions?|tools?|schema|name)\b[^'"`“]{0,30}['"`“]([\w.:-]{1,128})['"`”]/gi
