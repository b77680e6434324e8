import type { Probe } from './probe.ts'
import { BASIC_PROBES } from './basic-probes.ts'
import { DECLARATION_PROBES } from './declaration-probes.ts'
import { SIMULATED_RESPONSE_PROBES } from './simulated-response-probes.ts'
import { REASONING_PROBES } from './reasoning-probes.ts'
import { RESULT_AND_HISTORY_PROBES } from './result-and-history-probes.ts'

/** The thirty probes, in their order. */
export const PROBES: readonly Probe[] = [
  ...BASIC_PROBES,
  ...RESULT_AND_HISTORY_PROBES,
  ...REASONING_PROBES,
  ...DECLARATION_PROBES,
  ...SIMULATED_RESPONSE_PROBES,
].sort((one, other) => one.id - other.id)

/** The two probes that the others depend on: a response, and a call. */
export const ESSENTIAL_PROBES: readonly [Probe, Probe] = [findProbe(1), findProbe(3)]

function findProbe(id: number): Probe {
  const found = PROBES.find((one) => one.id === id)
  if (!found) throw new Error(`unknown probe ${id}`)
  return found
}
