import type { AgentContext } from '../agent/agent-context.ts'
import { countContextTokens } from '../agent/history/compact.ts'
import { getErrorMessage } from '../model/error-message.ts'
import type { SessionUpdate } from './protocol.ts'
import type { OpenedSession } from './setup.ts'

interface SessionStatusOptions {
  readonly send: (update: SessionUpdate) => void
  readonly getOpened: () => OpenedSession
  readonly log: (message: string) => void
}

/** Tells the client the title of a session, its tokens and its cost. */
export function createSessionStatus({ send, getOpened, log }: SessionStatusOptions) {
  let pendingUsage: Promise<void> = Promise.resolve()

  async function sendUsage(): Promise<void> {
    const { model, catalog, session }: AgentContext = getOpened().agent
    try {
      const size = model.window ?? (await catalog?.())?.card(model.origin)?.window
      if (size === undefined) return
      const cost = await getOpened().computeCost()
      send({
        sessionUpdate: 'usage_update',
        used: countContextTokens(session.turns),
        size,
        ...(cost !== undefined && { cost: { amount: cost, currency: 'USD' } }),
      })
    } catch (error) {
      log(`the usage could not be computed: ${getErrorMessage(error)}`)
    }
  }

  return {
    sendInfo(): void {
      const { entries } = getOpened().agent.session
      const first = entries.find((entry) => entry.kind === 'user')?.parts[0]
      const title = first?.kind === 'text' ? first.text.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE_CHARS) : ''
      const updatedAt = new Date(entries.at(-1)?.at ?? Date.now()).toISOString()
      send({ sessionUpdate: 'session_info_update', updatedAt, ...(title !== '' && { title }) })
    },
    /** The updates come in the order of the turns. */
    queueUsage(): void {
      pendingUsage = pendingUsage.then(sendUsage)
    },
    waitForUsage: () => pendingUsage,
  }
}

const MAX_TITLE_CHARS = 100
