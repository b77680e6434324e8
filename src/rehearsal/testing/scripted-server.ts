import type { RecordedRequest, RehearsalFailure } from '../request/recorded-request.ts'
import { startRehearsalServer } from '../server.ts'
import { assertScriptDone, type ScriptInput, toScript } from './assert-done.ts'

/** The options of `scriptedServer`. */
export interface ScriptedServerOptions {
  /** The default is any free port. */
  readonly port?: number
  /** Values for `{name}` in the texts of the script. */
  readonly values?: Readonly<Record<string, string>>
}

/** A server that plays a script. */
export interface ScriptedServer {
  /** The base URL for all clients and wires, for example as `baseUrl` of `provider()`. */
  readonly url: string
  /** The last 10,000 requests, oldest first. */
  readonly requests: readonly RecordedRequest[]
  /** Requests that did not meet `expect`, that came after the last step, or that the vendor would reject. */
  readonly failures: readonly RehearsalFailure[]
  /** Throws an AssertionError if a request failed or a step was not used. */
  assertDone(): void
  /** Closes all connections. */
  close(): Promise<void>
}

/**
 * Starts a server on this machine that plays a script, for clients of any wire, any key and any model name.
 *
 * The step follows from the history of a request: a conversation with n assistant turns gets step n. So a retry gets the same
 * step again, and many sessions can use one server at the same time.
 */
export async function scriptedServer(steps: ScriptInput, options: ScriptedServerOptions = {}): Promise<ScriptedServer> {
  const script = toScript(steps)
  const server = await startRehearsalServer({
    scripts: { script },
    fallbackScript: 'script',
    isStrict: true,
    port: options.port ?? 0,
    templateValues: options.values ?? {},
  })
  const { url, requests, failures, stepCounts } = server
  return {
    url,
    requests,
    failures,
    assertDone: () => assertScriptDone(script, stepCounts, failures),
    close: () => server.close(),
  }
}
