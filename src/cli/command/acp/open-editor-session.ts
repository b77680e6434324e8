import type { OpenedSession, SessionFrontEnd, SessionTarget } from '../../../acp/setup.ts'
import { defined } from '../../../model/defined.ts'
import type { RunArgs } from '../../args/run-args.ts'
import { readSettings } from '../../config/read-settings.ts'
import { describeRunProblem, type ResumeAdvice } from '../../output/describe-run.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { createLazyCatalog } from '../../setup/catalog.ts'
import { closeRun, openRunResources } from '../../setup/run-resources.ts'
import { openActiveSession } from '../../tui/active-session.ts'
import { removeEmptySession } from '../../session-end.ts'
import { listEditorCommands } from './editor-commands.ts'
import { findStoredSession } from './stored-sessions.ts'

/** Opens a session as the terminal does, with the editor's files, terminals and questions. */
export async function openEditorSession(
  commonArgs: RunArgs,
  { folder: requested, directories, mcpServers, resume }: SessionTarget,
  { requestApproval, wrapHost, elicitationView }: SessionFrontEnd,
  withErrors: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<OpenedSession> {
  // A session is continued where it was started: its log and its grants belong to that folder.
  const cwd = resume === undefined ? requested : (await findStoredSession(resume, requested)).summary.folder
  const args: RunArgs = {
    ...commonArgs,
    cwd,
    directories: [...commonArgs.directories, ...directories],
    ...defined({ resume }),
  }
  const folder = resolveWorkFolder(args)
  const settings = readSettings(folder)
  const { config } = settings
  const resources = await openRunResources(args, settings)
  const session = await openActiveSession(args, {
    folder,
    settings,
    resources,
    controller: { onApproval: requestApproval },
    extension: { wrapHost, mcpServers, ...defined({ elicitationView }) },
  }).catch(async (error: unknown) => {
    await closeRun(resources)
    throw error
  })
  const catalog = createLazyCatalog(config)
  return {
    get agent() {
      return session.agent
    },
    get notices() {
      return session.notices
    },
    get effort() {
      return session.effort
    },
    setModel: (name) => withErrors(() => session.setModel(name)),
    setEffort: (effort) => session.setEffort(effort),
    async listModels() {
      const { listModelsByProvider } = await import('../models/models.ts')
      const { offers } = await listModelsByProvider(config)
      const usable = offers.flatMap(({ provider, usable: isUsable, models }) =>
        isUsable ? models.map(({ id }) => `${provider}/${id}`) : [],
      )
      return usable.slice(0, MAX_MODELS)
    },
    listCommands: () => listEditorCommands(folder, session, catalog),
    async computeCost() {
      const { computeSessionStats } = await import('../sessions/stats.ts')
      const { cost_usd: cost } = computeSessionStats(session.agent.session.entries, await catalog())
      return cost ?? undefined
    },
    describeProblem: (event) => describeRunProblem(event, EDITOR_ADVICE),
    onEvent: (event) => session.resources.telemetry?.onEvent(event),
    async close() {
      const { session: closed } = session.agent
      await session.close()
      if (!args.noSession) await removeEmptySession(closed, folder)
    },
  }
}

/** A longer list is of no use in a menu; any model can be named. */
const MAX_MODELS = 300

const EDITOR_ADVICE: ResumeAdvice = {
  afterStop: 'send a message to continue',
  afterFault: 'Send a message to try again.',
  afterOverflow: 'Use /compress, choose a model with a larger context window, or start a new session.',
}
