import { appendFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import { run } from '../../src/agent/loop/run.ts'
import { createBackgroundRuns } from '../../src/agent/subagents/background-runs.ts'
import { createSubagentRunner } from '../../src/agent/subagents/run-subagent.ts'
import { BUILTIN_AGENTS } from '../../src/agent/subagents/agent-definition.ts'
import { withRetry } from '../../src/provider/index.ts'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { resumeSession, type Session } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { Store } from '../../src/session/store/store.ts'
import { createTaskTool } from '../../src/tool/builtin/task.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { agentOf, modelOn } from '../support/stage.ts'

/** How many subagents work side by side, and how many calls each makes. */
export const CHILDREN = 8
export const CALLS = 2

/** The usage of every response, so that sums can be checked. */
export const UNIT = { input: 10, output: 1 }

/** Eight tasks in one response; each subagent counts twice. The third request of all is cut in the middle. */
export function familyScript(more: { readonly cut?: boolean; readonly background?: boolean } = {}): RehearsalScript {
  const usage = UNIT
  const numbers = Array.from({ length: CHILDREN }, (_, at) => at + 1)
  return {
    steps: [
      ...(more.cut
        ? [{ when: { request: 3 }, say: 'half of it', misbehave: [{ kind: 'cut', at: 'text' } as const] }]
        : []),
      ...numbers.flatMap((child) => [
        ...Array.from({ length: CALLS }, (_, turn) => ({
          when: { user: `CHILD ${child};`, turns: turn },
          call: [{ name: 'count', args: { n: child * 10 + turn } }],
          usage,
        })),
        { when: { user: `CHILD ${child};`, turns: CALLS }, say: `Child ${child} is done.`, usage },
      ]),
      {
        call: numbers.map((child) => ({
          name: 'task',
          args: {
            description: `child ${child}`,
            prompt: `CHILD ${child}; count.`,
            subagent_type: 'general',
            ...(more.background && { run_in_background: true }),
          },
        })),
        usage,
      },
    ],
    end: { say: 'All done.', usage },
  }
}

/** A tool whose every run leaves a line in a file, so that a second run cannot hide. */
function counter(folder: string): Tool {
  return tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    effects: () => [],
    execute({ n }) {
      appendFileSync(join(folder, 'ran'), `${n}\n`)
      return `counted ${n}`
    },
  })
}

/** An agent with subagents, all on one store. */
export function familyAgent(
  folder: string,
  url: string,
  store: Store,
  session: Session,
  more: Partial<AgentContext> = {},
): AgentContext {
  const model = withRetry(modelOn('openai-chat', { url }))
  let children = 0
  const run_ = createSubagentRunner({
    agents: BUILTIN_AGENTS,
    toolName: 'task',
    createSession: async (subagent) =>
      resumeSession(await store.create({ id: `child-${process.pid}-${++children}`, folder: '/', subagent })),
    openModel: () => Promise.reject(new Error('there is no other model')),
  })
  const tools = [createTaskTool({ agents: BUILTIN_AGENTS, run: run_ }), counter(folder)]
  return agentOf(model, tools, { session, background: createBackgroundRuns(), ...more })
}

/** Runs a family until it is killed. */
export async function victim(folder: string, url: string): Promise<void> {
  const store = jsonlStore(folder)
  const log = await store.create({ id: 'parent', folder: '/' })
  const agent = familyAgent(folder, url, store, resumeSession(log))
  writeSync(1, 'ready\n')
  for await (const event of run(agent, [{ kind: 'text', text: 'go' }])) void event
  await log.close()
  writeSync(1, 'ended\n')
}
