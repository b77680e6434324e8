import { generateValidName } from '../../../schema/dialect/tool-names.ts'
import { base36Hash } from '../../../schema/hash.ts'

/** What stands between the name of a server and that of its tool. */
export const NAME_SEPARATOR = '__'

/** The qualified name of a tool. */
export function qualifyToolName(server: string, tool: string): string {
  return `${server}${NAME_SEPARATOR}${tool}`
}

/** A tool by the names that its server and the settings use. */
export interface ServerToolName {
  readonly server: string
  readonly tool: string
}

/** Gives tools the names that a model sees; a name once given stays, and leads back to the one tool that it means. */
export interface ToolNameRegistry {
  nameFor(tool: ServerToolName): string
  resolve(name: string): ServerToolName | undefined
}

/**
 * Names for the tools of servers. A tool keeps its own name if nothing else is called like it, or nearly; otherwise the
 * name of its server stands before it. `taken` are the names of our own tools: nobody can put themselves in their place.
 */
export function createToolNameRegistry(reservedNames: readonly string[]): ToolNameRegistry {
  const assignedNames = new Map<string, string>()
  const toolsByName = new Map<string, ServerToolName>()
  const foldedNames = new Set(reservedNames.map(foldName))

  return {
    nameFor(tool) {
      const key = JSON.stringify([tool.server, tool.tool])
      const existingName = assignedNames.get(key)
      if (existingName !== undefined) return existingName
      const plain = generateValidName(tool.tool)
      const qualified = generateValidName(qualifyToolName(toServerName(tool.server), tool.tool))
      // The cut in the middle of a long name leaves underscores that separate nothing.
      const isPlain = /^[A-Za-z_]/.test(plain) && !tool.tool.includes(NAME_SEPARATOR)
      const name = [...(isPlain ? [plain] : []), qualified].find((one) => !foldedNames.has(foldName(one)))
      const chosen = name ?? appendHash(qualified, key, foldedNames)
      assignedNames.set(key, chosen)
      toolsByName.set(chosen, tool)
      foldedNames.add(foldName(chosen))
      return chosen
    },
    resolve: (name) => toolsByName.get(name),
  }
}

/** The name of a server as it stands in names and rules: two underscores in a row would be taken for the end of it. */
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

/** Names that a model could take for each other. */
function foldName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
