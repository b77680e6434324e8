import { createSubagentRunner } from '../../agent/subagents/run-subagent.ts'
import type { Model } from '../../provider/index.ts'
import { resumeSession } from '../../session/session.ts'
import type { Store } from '../../session/store/store.ts'
import { TASK_TOOL_NAME, type TaskToolOptions } from '../../tool/builtin/task.ts'
import { type AgentDefinitions, loadAgentDefinitions } from './agent-definitions.ts'
import type { ChosenModel } from './choose-model.ts'

export interface SubagentOptions {
  readonly folder: string
  readonly store: Store
  readonly createSessionId: () => string
  /** Opens a model under the limits of the run. */
  readonly openModel: ((name: string) => Promise<ChosenModel>) | undefined
}

/** The agents that can get tasks, and what the tool that starts them needs. */
export interface Subagents extends AgentDefinitions {
  readonly task: TaskToolOptions
  close(): Promise<void>
}

export function createSubagents({ folder, store, createSessionId, openModel }: SubagentOptions): Subagents {
  const { agents, notices } = loadAgentDefinitions(folder)
  const opened = new Map<string, Promise<ChosenModel>>()
  const run = createSubagentRunner({
    agents,
    toolName: TASK_TOOL_NAME,
    createSession: async (subagent) => resumeSession(await store.create({ id: createSessionId(), folder, subagent })),
    async openModel(name): Promise<Model> {
      if (!openModel) throw new Error('other models cannot be opened here')
      const opening = opened.get(name) ?? openModel(name)
      opened.set(name, opening)
      return (await opening).model
    },
  })
  return {
    agents,
    notices,
    task: { agents, run },
    async close() {
      await Promise.all([...opened.values()].map((one) => one.then((model) => model.close()).catch(() => undefined)))
    },
  }
}
