import { generateValidName } from '../../schema/names.ts'
import { shortHash } from '../../schema/hash.ts'

/** What stands between the name of a server and that of its tool. */
export const BETWEEN = '__'

/** The qualified name of a tool. */
export function fullyQualified(server: string, tool: string): string {
  return `${server}${BETWEEN}${tool}`
}

/** A tool by the names that its server and the settings use. */
export interface Named {
  readonly server: string
  readonly tool: string
}

/** Gives tools the names that a model sees; a name once given stays, and leads back to the one tool that it means. */
export interface Names {
  of(tool: Named): string
  back(name: string): Named | undefined
}

/**
 * Names for the tools of servers. A tool keeps its own name if nothing else is called like it, or nearly; otherwise the
 * name of its server stands before it. `taken` are the names of our own tools: nobody can put themselves in their place.
 */
export function nameTools(taken: readonly string[]): Names {
  const given = new Map<string, string>()
  const used = new Map<string, Named>()
  const alike = new Set(taken.map(folded))

  return {
    of(tool) {
      const key = JSON.stringify([tool.server, tool.tool])
      const known = given.get(key)
      if (known !== undefined) return known
      const plain = generateValidName(tool.tool)
      const qualified = generateValidName(fullyQualified(serverName(tool.server), tool.tool))
      // The cut in the middle of a long name leaves underscores that separate nothing.
      const isPlain = /^[A-Za-z_]/.test(plain) && !tool.tool.includes(BETWEEN)
      const name = [...(isPlain ? [plain] : []), qualified].find((one) => !alike.has(folded(one)))
      const chosen = name ?? hashed(qualified, key, alike)
      given.set(key, chosen)
      used.set(chosen, tool)
      alike.add(folded(chosen))
      return chosen
    },
    back: (name) => used.get(name),
  }
}

/** The name of a server as it stands in names and rules: two underscores in a row would be taken for the end of it. */
export function serverName(server: string): string {
  const legal = generateValidName(server).replace(/_{2,}/g, '_').replace(/^_|_$/g, '')
  const sound = /^[A-Za-z]/.test(legal) ? legal : `s_${legal}`
  return sound === server ? server : `${sound}_${shortHash(server, 4)}`
}

function hashed(name: string, key: string, alike: ReadonlySet<string>): string {
  for (let length = 6; ; length++) {
    const chosen = `${name.slice(0, 62 - length)}_${shortHash(key, length)}`
    if (!alike.has(folded(chosen))) return chosen
  }
}

/** Names that a model could take for each other. */
function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
