import { generateValidName } from '../../../schema/dialect/tool-names.ts'
import { base36Hash } from '../../../schema/hash.ts'

/** The name of a tool with the name of its server: `server__tool`. */
export function qualifyToolName(server: string, tool: string): string {
  return `${server}__${tool}`
}

export interface ServerToolName {
  readonly server: string
  readonly tool: string
}

export type ToolNameRegistry = ReturnType<typeof createToolNameRegistry>

/** A tool keeps its name if no other name is similar; otherwise the name of its server is prefixed. */
export function createToolNameRegistry(reservedNames: readonly string[]) {
  const assignedNames = new Map<string, string>()
  const toolsByName = new Map<string, ServerToolName>()
  const foldedNames = new Set(reservedNames.map(foldName))

  return {
    nameFor(tool: ServerToolName): string {
      const key = JSON.stringify([tool.server, tool.tool])
      const existingName = assignedNames.get(key)
      if (existingName !== undefined) return existingName
      const plain = generateValidName(tool.tool)
      const qualified = generateValidName(qualifyToolName(toServerName(tool.server), tool.tool))
      // The shortening of long names adds underscores that are not separators.
      const isPlain = /^[A-Za-z_]/.test(plain) && !tool.tool.includes('__')
      const name = [...(isPlain ? [plain] : []), qualified].find((one) => !foldedNames.has(foldName(one)))
      const chosen = name ?? appendHash(qualified, key, foldedNames)
      assignedNames.set(key, chosen)
      toolsByName.set(chosen, tool)
      foldedNames.add(foldName(chosen))
      return chosen
    },
    resolve: (name: string) => toolsByName.get(name),
  }
}

/** The name of a server in tool names and rules: `__` would end it. */
export function toServerName(server: string): string {
  const cleanName = generateValidName(server).replace(/_{2,}/g, '_').replace(/^_|_$/g, '')
  const validName = /^[A-Za-z]/.test(cleanName) ? cleanName : `s_${cleanName}`
  return validName === server ? server : `${validName}_${base36Hash(server, 4)}`
}

function appendHash(name: string, key: string, foldedNames: ReadonlySet<string>): string {
  for (let length = 6; ; length++) {
    const chosen = `${name.slice(0, 62 - length)}_${base36Hash(key, length)}`
    if (!foldedNames.has(foldName(chosen))) return chosen
  }
}

/** Equal for names that a model could confuse. */
function foldName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
