import type { AgentContext } from '../agent-context.ts'

/**
 * Asks the user of the run that started a subagent, with the name of the subagent. A question that stays open is a no: the call of
 * a subagent cannot wait for another process.
 */
export function inheritApproval(
  requestApproval: NonNullable<AgentContext['requestApproval']>,
  asker: string,
): NonNullable<AgentContext['requestApproval']> {
  return async (ask, signal) =>
    (await requestApproval({ ...ask, asker: ask.asker === undefined ? asker : `${asker} › ${ask.asker}` }, signal)) ?? {
      ask: ask.id,
      outcome: 'cancel',
      words: 'Nobody has answered.',
    }
}
