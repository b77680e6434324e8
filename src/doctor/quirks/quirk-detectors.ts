import { RESPONSE_QUIRKS } from './response-quirks.ts'
import { CALL_QUIRKS } from './call-quirks.ts'
import { TRANSPORT_QUIRKS } from './transport-quirks.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import type { WireId } from '../../model/turn.ts'
import { type AttemptAnalysis, analyzeAttempts } from './attempt-analysis.ts'

/** A deviation of a server from its API, seen in its bytes. */
export interface ServerQuirk {
  readonly id: string
  /** The known failures that it belongs to (docs/failures.md). */
  readonly failureIds: string
  /** The predicate of a sentence whose subject is “This server”. */
  readonly description: string
  /** Dragoman has to retry, or cannot work around it; by default it handles the quirk. */
  readonly outcome?: QuirkOutcome
  /** The only wire on which it can be detected. */
  readonly wire?: WireId
  /** A string adds a detail to the description. */
  readonly detect: (attempt: AttemptAnalysis) => boolean | string
}

type QuirkOutcome = 'handled' | 'retried' | 'harmful'

export interface QuirkFinding {
  readonly id: string
  readonly said: string
  readonly outcome: QuirkOutcome
}

/** All quirks. Where a response has no clean end, nothing is said about its end. */
export const QUIRK_DETECTORS: readonly ServerQuirk[] = [...TRANSPORT_QUIRKS, ...RESPONSE_QUIRKS, ...CALL_QUIRKS]

/** The quirks in an exchange, each once, without those that the request itself provokes. */
export function detectQuirks(
  exchange: ProbeExchange,
  wire: WireId,
  options: { isFirstExchange?: boolean; expectedQuirks?: readonly string[] } = {},
): QuirkFinding[] {
  const attempts = analyzeAttempts(exchange, wire, options.isFirstExchange ?? false)
  const isPossible = (quirk: ServerQuirk): boolean =>
    (quirk.wire ?? wire) === wire && !options.expectedQuirks?.includes(quirk.id)
  return QUIRK_DETECTORS.filter(isPossible).flatMap(({ id, failureIds, description, outcome = 'handled', detect }) => {
    const detail = attempts.map(detect).find((one) => one !== false)
    if (detail === undefined) return []
    const suffix = detail === true ? '' : ` (${detail})`
    return { id, said: `This server ${description}${suffix}: ${OUTCOME_TEXTS[outcome]} (${failureIds}).`, outcome }
  })
}

const OUTCOME_TEXTS: Readonly<Record<QuirkOutcome, string>> = {
  handled: 'handled',
  retried: 'Dragoman discards the response and retries',
  harmful: 'Dragoman runs no call of it, and the task cannot proceed',
}
