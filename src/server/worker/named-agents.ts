import { defined } from '../../model/defined.ts'
import type { AgentSource, ServedAgentOptions, SessionContext } from './agent-source.ts'

/** The options of an agent, or a function that makes them for a session. */
export type AgentDefinition =
  | ServedAgentOptions
  | ((session: SessionContext) => ServedAgentOptions | Promise<ServedAgentOptions>)

/** The agents of a program, by name. The model of a session replaces that of its agent. */
export function createAgentSource(agents: Readonly<Record<string, AgentDefinition>>): AgentSource {
  const [first] = Object.keys(agents)
  return async (session) => {
    const name = session.settings.agent ?? first ?? ''
    const definition = Object.hasOwn(agents, name) ? agents[name] : undefined
    if (!definition) throw new Error(`This worker has no agent “${name}”.`)
    const options = typeof definition === 'function' ? await definition(session) : definition
    return { options: { ...options, ...defined({ model: session.settings.model }) } }
  }
}
