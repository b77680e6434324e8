import type { ModelRequest } from '../../src/model/request.ts'
import { formatResultText } from '../../src/model/text.ts'
import type { WireId } from '../../src/model/turn.ts'
import { parseVendorRoute } from '../../src/wire/vendor-route.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { passThrough } from '../../test/support/hand-over.ts'
import { compareTools, countDeclaredTools, listTools, type ToolOutcome } from '../../test/support/tool-survival.ts'
import type { CapturedRequest } from './capture-server.ts'

/** What became of the tools of a request. */
export interface ToolReport {
  readonly wire: WireId
  readonly declared: number
  /** Tools that we could run. */
  readonly read: number
  /** Tools that the vendor runs, or of an unknown type. */
  readonly hosted: number
  /** The outcomes of all tools, by the wire that they were encoded for. */
  readonly outcomes: Readonly<Record<WireId, readonly ToolOutcome[]>>
  /** Sentences about what was lost. */
  readonly losses: readonly string[]
  /** The texts of all results. */
  readonly results: string
}

/** Undefined if it is not a request to a model. */
export async function checkTools({ path, headers, body }: CapturedRequest): Promise<ToolReport | undefined> {
  const route = parseVendorRoute(path, headers)
  if (route?.kind !== 'ask') return undefined
  const { request } = (await loadWire(route.wire)).readRequest(body)
  const declared = countDeclaredTools(body)
  const [read, hosted] = [listTools(request).length, (request.hostedTools ?? []).length]
  const losses = read + hosted < declared ? [`${declared - read - hosted} of ${declared} tools were not read`] : []
  const outcomes: Partial<Record<WireId, readonly ToolOutcome[]>> = {}
  for (const id of wireIds) {
    const wire = await loadWire(id)
    const carried = compareTools(request, passThrough(request, wire), wire)
    outcomes[id] = carried.map(({ outcome }) => outcome)
    const lost = carried.filter(({ outcome }) => !SURVIVING_OUTCOMES.has(outcome))
    const names = lost.map(({ tool, outcome }) => `${tool.name} (${outcome})`)
    if (names.length > 0) losses.push(`${names.length} tools are not the same on ${id}: ${names.join(', ')}`)
  }
  const results = getResultText(request)
  return { wire: route.wire, declared, read, hosted, outcomes: outcomes as ToolReport['outcomes'], losses, results }
}

export const SURVIVING_OUTCOMES: ReadonlySet<ToolOutcome> = new Set(['same', 'equivalent'])

function getResultText({ turns }: ModelRequest): string {
  return turns.flatMap((turn) => (turn.role === 'results' ? turn.parts.map(formatResultText) : [])).join('\n')
}
