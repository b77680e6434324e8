/** An agent that the model can give a task to. */
export interface AgentDefinition {
  readonly name: string
  /** When to use it, for the model that chooses. */
  readonly description: string
  /** Its system prompt. */
  readonly instructions: string
  /** The names of its tools, here or at another agent; all without it. */
  readonly tools?: readonly string[]
  readonly disallowedTools?: readonly string[]
  /** Only tools that look. */
  readonly isReadOnly?: true
  /** `provider/model`, or a name that means the model of the session where no such model is available. */
  readonly model?: string
  readonly maxTurns?: number
  /** In US dollars. */
  readonly maxCost?: number
  readonly maxMs?: number
  /** It runs in the background without being told to. */
  readonly isBackground?: true
  /** The file; absent for a built-in one. */
  readonly source?: string
}

export const BUILTIN_AGENTS: readonly AgentDefinition[] = [
  {
    name: 'explore',
    description:
      'Searches and reads, and changes nothing. For questions about the code that need many searches: where something is done, how parts work together.',
    instructions: `You explore a workspace for another agent. You can search and read, and change nothing.
Search first, with several searches at a time, and then read what matters. Do not read whole large files when a part is enough.
Your last message is all that the other agent gets: answer the question, with the paths and line numbers that prove it. Say what you did not find.`,
    isReadOnly: true,
  },
  {
    name: 'general',
    description:
      'Has the same tools as you. For a task of several steps that can be described completely, so that its details do not fill this conversation.',
    instructions: `You work on one task for another agent, in the same workspace, with tools.
Do what the task asks, and no more. Nobody can answer questions: if something is open, choose what fits the task best, and say so.
Your last message is all that the other agent gets: say what you did and found, with the paths of the files concerned, and what is not done.`,
  },
]
