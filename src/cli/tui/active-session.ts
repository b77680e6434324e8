import type { AgentContext } from '../../agent/agent-context.ts'
import { defined } from '../../model/defined.ts'
import type { ModelParams } from '../../model/request.ts'
import type { ApprovalMode } from '../../policy/policy.ts'
import type { RunArgs } from '../args/run-args.ts'
import { readSettings, type Settings } from '../config/read-settings.ts'
import type { AgentExtension, AssembledAgent } from '../setup/assemble-agent.ts'
import { chooseModel } from '../setup/choose-model.ts'
import { assembleRunAgent, closeRun, type RunResources } from '../setup/run-resources.ts'
import { UserError } from '../user-error.ts'
import type { RunController } from './run-controller.ts'

/** The session to open: an existing one, a fork of one, or (without a field) a new one. */
export type SessionTarget = Pick<RunArgs, 'resume' | 'fork' | 'takeOver'>

/** The session that the terminal shows, with its agent, model and mode. */
export type ActiveSession = Awaited<ReturnType<typeof openActiveSession>>

interface SessionParts {
  readonly folder: string
  readonly settings: Settings
  readonly resources: RunResources
  readonly controller: Pick<RunController, 'onApproval'> & Partial<Pick<RunController, 'takeQueued'>>
  readonly extension?: AgentExtension
}

export async function openActiveSession(args: RunArgs, parts: SessionParts) {
  const { folder, settings, controller } = parts
  const { resume, fork, takeOver, ...otherArgs } = args
  let resources = parts.resources
  let params: ModelParams = {}
  let mode: ApprovalMode = args.approvalMode ?? settings.config.approvalMode ?? 'default'
  let assembled = await assemble({ ...defined({ resume, fork }), ...(takeOver && { takeOver }) })
  let agent = withController(assembled)

  async function assemble(target: SessionTarget): Promise<AssembledAgent> {
    const sessionArgs = { ...otherArgs, ...target, approvalMode: mode }
    const current = reloadSettings(folder, settings)
    const opened = await assembleRunAgent(sessionArgs, current, resources, controller.onApproval, parts.extension)
    // There is time to connect while the user reads and types.
    opened.mcp?.servers.start()
    return opened
  }

  function withController(opened: AssembledAgent): AgentContext {
    const { takeQueued: takeQueuedMessages } = controller
    return { ...opened.agent, model: resources.model.model, params, ...defined({ takeQueuedMessages }) }
  }

  return {
    get agent() {
      return agent
    },
    get mode() {
      return agent.mode?.get() ?? mode
    },
    get resources() {
      return resources
    },
    get servers() {
      return assembled.mcp?.servers
    },
    /** The agents that can get tasks. */
    get agents() {
      return assembled.agents
    },
    /** The hooks that are commands. */
    get hooks() {
      return assembled.hooks
    },
    listKeptCommands: () => assembled.listKeptCommands(),
    get sandbox() {
      return assembled.sandbox
    },
    get grants() {
      return assembled.grants
    },
    /** What the user should know about the model and the session. */
    get notices() {
      return [...(resources.model.notices ?? []), ...assembled.notices]
    },
    /** Opens a session in place of the current one, which must be suspended before: its log is locked. */
    async open(target: SessionTarget): Promise<void> {
      mode = agent.mode?.get() ?? mode
      assembled = await assemble(target)
      agent = withController(assembled)
    },
    /** How much the model thinks; undefined if it decides that itself. */
    get effort() {
      return params.effort ?? resources.model.settings.effort
    },
    /** Applies from the next request on, also to other models and sessions. Undefined: what the model's settings say. */
    setEffort(effort: ModelParams['effort']): void {
      params = defined({ effort })
      agent = { ...agent, params }
    },
    /** Closes the log and the MCP servers of the current session; the model stays open. */
    suspend: () => assembled.close(),
    /** Uses another model from the next request on. Throws a UserError if it cannot be used. */
    async setModel(name: string): Promise<void> {
      const previous = resources.model
      const { maxCost, generation } = args
      const model = await chooseModel(name, settings.config, { maxCost, generation, tap: resources.recorder })
      resources = { ...resources, model }
      agent = { ...agent, model: model.model }
      assembled.useModel(model.model)
      await previous.close()
    },
    close: () => closeRun(resources, assembled),
  }
}

/** Rules may have been added or removed since the start. Settings that became invalid are reported at the next start. */
function reloadSettings(folder: string, previous: Settings): Settings {
  try {
    return readSettings(folder)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return previous
  }
}
