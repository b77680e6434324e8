import type { WireId } from '../../src/model/turn.ts'
import type { ScriptedCall, ScriptStep } from '../../src/rehearsal/script/script.ts'

/** A model that a client asks, on a wire that it speaks. */
export interface ClientModel {
  readonly wire: WireId
  readonly model: string
  /** Arguments that choose the model, if the setup for the gateway does not. */
  readonly args?: readonly string[]
  /** Calls a tool of the client that shows the file `{cwd}/a.txt`. */
  readonly readFile: ScriptStep
}

/** How a model works with the tools of a client. Paths are inside of `{cwd}`. */
export interface ClientTools {
  /** Distinguishes it from other tools of the same client. */
  readonly label?: string
  /** Arguments that make the client declare these tools. */
  readonly args?: readonly string[]
  readonly read: (file: string) => ScriptedCall
  readonly edit: (file: string, before: string, after: string) => ScriptedCall
  readonly shell: (command: string) => ScriptedCall
  /** What the model answers to the client's requests beside the task, if they need a certain form. */
  readonly answer?: string
}

/** Another agent that can be pointed to an endpoint of ours; how is in `src/gateway/clients`. */
export interface Client {
  /** The command by which its users know it. */
  readonly id: string
  /** The npm package; `{target}` is the platform, such as `linux-x64`. */
  readonly package: string
  /** Versions or tags, tried in this order. */
  readonly versions?: readonly string[]
  /** The file of the package that is started. */
  readonly program: string
  /** The version of Node that it needs; absent if it is a native program. */
  readonly node?: number
  /** Turns off updates, telemetry and everything else that would reach another host. */
  readonly quietEnv: Readonly<Record<string, string>>
  /** The same, in files of its home folder. */
  readonly quietFiles?: Readonly<Record<string, string>>
  /** Runs one prompt without a terminal and without questions. */
  readonly runPrompt: (prompt: string) => readonly string[]
  /** The requests that are captured. */
  readonly models: readonly ClientModel[]
  /** The ways to work on a task through the gateway. */
  readonly tools: readonly ClientTools[]
}

/** Calls the tool at the beginning of a conversation that declares it; clients also ask for titles, without tools. */
export function callFirst(name: string, args: Readonly<Record<string, string>>): ScriptStep {
  return { when: { tools: [name], turns: 0 }, say: 'I read the file.', call: [{ name, args }] }
}
