import { RESPONSE_QUIRKS } from './response-quirks.ts'
import { CALL_QUIRKS } from './call-quirks.ts'
import { TRANSPORT_QUIRKS } from './transport-quirks.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import type { WireId } from '../../model/turn.ts'
import { type AttemptAnalysis, analyzeAttempts } from './attempt-analysis.ts'

/** Something about a server that is not as its wire says, seen from outside. */
export interface ServerQuirk {
  readonly id: string
  /** The failures that taught it. */
  readonly failureIds: string
  /** What is going on, as the end of a sentence that begins with “This server”. */
  readonly description: string
  /** What comes of it: we deal with it, it costs something, or nothing can be done from here. */
  readonly outcome: 'handled' | 'retried' | 'harmful'
  /** Is it there? A text says more about it. */
  readonly detect: (attempt: AttemptAnalysis) => boolean | string
}

/** A sign that was seen. */
export interface QuirkFinding {
  readonly id: string
  readonly said: string
  readonly outcome: ServerQuirk['outcome']
}

/** All signs. Where an answer did not come to its end, nothing is said about what its end would have held. */
export const SERVER_QUIRKS: readonly ServerQuirk[] = [...TRANSPORT_QUIRKS, ...RESPONSE_QUIRKS, ...CALL_QUIRKS]

/** The signs in an exam, each once; `but` are those that the question itself asked for. */
export function findQuirks(
  exchange: ProbeExchange,
  wire: WireId,
  options: { isFirstExchange?: boolean; expectedQuirks?: readonly string[] } = {},
): QuirkFinding[] {
  const attempts = analyzeAttempts(exchange, wire, options.isFirstExchange ?? false)
  return SERVER_QUIRKS.filter(({ id }) => !options.expectedQuirks?.includes(id)).flatMap(
    ({ id, failureIds, description, outcome, detect }) => {
      for (const attempt of attempts) {
        const detail = detect(attempt)
        if (detail === false) continue
        const suffix = detail === true ? '' : ` (${detail})`
        return [
          { id, said: `This server ${description}${suffix}: ${OUTCOME_TEXTS[outcome]} (${failureIds}).`, outcome },
        ]
      }
      return []
    },
  )
}

const OUTCOME_TEXTS: Readonly<Record<ServerQuirk['outcome'], string>> = {
  handled: 'handled',
  retried: 'nothing of such an answer runs, and it is asked for again',
  harmful: 'nothing runs that should not, but the work does not get done',
}
