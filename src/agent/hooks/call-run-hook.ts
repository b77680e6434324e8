import type { RunEvent } from '../loop/run-event.ts'
import type { RunState } from '../loop/run-state.ts'
import { callHook } from './call-hook.ts'
import type { Hooks } from './hooks.ts'

/** Calls a hook inside of a run, and returns its events. */
export async function* callRunHook<Name extends keyof Hooks>(
  { agent, signal }: Pick<RunState, 'agent' | 'signal'>,
  name: Name,
  details: Parameters<typeof callHook<Name>>[2],
): AsyncGenerator<RunEvent, Awaited<ReturnType<typeof callHook<Name>>>> {
  const events: RunEvent[] = []
  const outcome = await callHook(agent, name, details, signal, (event) => events.push(event))
  yield* events
  return outcome
}
