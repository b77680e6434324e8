import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import type { WireId } from '../../src/model/turn.ts'

/** Where a client finds its model. */
export interface ModelEndpoint {
  /** Without the vendor's own path: `http://127.0.0.1:8080`. */
  readonly url: string
  readonly key: string
  readonly model: string
}

/** What points a client to an endpoint, for one run: nothing of the user's own configuration is changed. */
export interface ClientSetup {
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  /** Files in its home folder. */
  readonly files?: Readonly<Record<string, string>>
}

/** A model that a client asks, on a wire that it speaks. */
export interface ClientModel {
  readonly wire: WireId
  readonly model: string
  readonly setUp: (endpoint: ModelEndpoint) => ClientSetup
  /** Calls a tool of the client that shows the file `{cwd}/a.txt`. */
  readonly readFile: ScriptStep
}

/** Another agent that can be pointed to an endpoint of ours. */
export interface Client {
  /** The command by which its users know it. */
  readonly id: string
  readonly title: string
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
  /** Runs one prompt without a terminal and without questions. */
  readonly runPrompt: (prompt: string) => readonly string[]
  readonly models: readonly ClientModel[]
}

/** Calls the tool at the beginning of a conversation that declares it; clients also ask for titles, without tools. */
export function callFirst(name: string, args: Readonly<Record<string, string>>): ScriptStep {
  return { when: { tools: [name], turns: 0 }, say: 'I read the file.', call: [{ name, args }] }
}
